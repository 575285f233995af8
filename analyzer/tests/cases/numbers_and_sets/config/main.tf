resource "aws_thing" "a" {
  big = 9007199254740993
}
