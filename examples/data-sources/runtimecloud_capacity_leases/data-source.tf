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
  name = "seen-leases-dev"
}

resource "runtimecloud_capacity_lease" "seats" {
  for_each = toset(["one", "two"])

  name        = each.key
  environment = runtimecloud_environment.dev.name
  amounts     = { seats = "1" }
  holder      = "team-${each.key}"
}

# Only those of one environment.
data "runtimecloud_capacity_leases" "dev" {
  environment = runtimecloud_environment.dev.name
  depends_on  = [runtimecloud_capacity_lease.seats]
}

output "holders" {
  value = [
    for lease in data.runtimecloud_capacity_leases.dev.capacity_leases : lease.holder
    if lease.state == "granted"
  ]
}
