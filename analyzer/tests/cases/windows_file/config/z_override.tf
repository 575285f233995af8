resource "aws_thing" "a" {
  mode = "a"
}
