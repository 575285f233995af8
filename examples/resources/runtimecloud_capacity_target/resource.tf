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
  name     = "target-local"
  driver   = { process = {} }
  capacity = { cpu = "2", memory = "4Gi" }
  labels   = { region = "here" }
}
