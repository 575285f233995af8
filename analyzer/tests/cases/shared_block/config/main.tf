module "net" {
  source   = "./net"
  for_each = toset(["a.b"])
}

module "vpc" {
  source = "terraform-aws-modules/vpc/aws"
}

resource "aws_thing" "c" {
  count = 2
  size  = 1
}
