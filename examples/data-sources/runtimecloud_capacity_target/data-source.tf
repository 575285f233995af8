terraform {
  required_providers {
    runtimecloud = {
      source = "runtimecloud/runtimecloud"
    }
  }
}

# The endpoint and the token come from RUNTIMECLOUD_ENDPOINT and RUNTIMECLOUD_TOKEN.
provider "runtimecloud" {}

resource "runtimecloud_capacity_target" "local" {
  name     = "seen-local"
  driver   = { process = {} }
  capacity = { cpu = "2" }
}

data "runtimecloud_capacity_target" "local" {
  name = runtimecloud_capacity_target.local.name
}

output "can_be_used" {
  value = data.runtimecloud_capacity_target.local.conditions["Schedulable"].status
}
