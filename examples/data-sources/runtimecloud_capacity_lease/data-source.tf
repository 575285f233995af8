terraform {
  required_providers {
    runtimecloud = {
      source = "runtimecloud/runtimecloud"
    }
  }
}

# The endpoint and the token come from RUNTIMECLOUD_ENDPOINT and RUNTIMECLOUD_TOKEN.
provider "runtimecloud" {}

resource "runtimecloud_environment" "dev" {
  name = "seen-lease-dev"
}

resource "runtimecloud_capacity_lease" "batch" {
  name        = "batch"
  environment = runtimecloud_environment.dev.name
  amounts     = { cpu = "1" }
}

data "runtimecloud_capacity_lease" "batch" {
  environment = runtimecloud_environment.dev.name
  name        = runtimecloud_capacity_lease.batch.name
}

output "is_granted" {
  value = data.runtimecloud_capacity_lease.batch.state == "granted"
}
