resource "aws_db_instance" "main" {
  engine_version = "15.3"
}
