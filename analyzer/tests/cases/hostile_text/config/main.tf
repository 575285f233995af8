resource "aws_thing" "a" {
  for_each = { x = 1 }
  note = "a"
}
