resource "aws_s3_bucket" "kept" {
  bucket = "kept"
}
