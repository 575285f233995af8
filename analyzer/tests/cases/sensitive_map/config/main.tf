resource "aws_thing" "other" {
  login {
    user = "u"
    pin  = "77"
  }
}
resource "aws_thing" "db" {
  size   = 1
  region = "eu"
  login {
    pin  = "1234"
    user = "u"
  }
  env = var.env
}
