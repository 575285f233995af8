resource "aws_s3_bucket" "archive" {
  bucket = "logs"
  acl    = "private"
}
