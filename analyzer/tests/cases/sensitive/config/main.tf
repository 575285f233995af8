resource "aws_thing" "db" {
  size     = 1
  url      = "postgres://u:hunter2-s3cret@db/a"
  password = "hunter2-s3cret"
}
