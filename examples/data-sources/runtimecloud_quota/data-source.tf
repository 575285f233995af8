terraform {
  required_providers {
    runtimecloud = {
      source = "runtimecloud/runtimecloud"
    }
  }
}

# The endpoint and the token come from RUNTIMECLOUD_ENDPOINT and RUNTIMECLOUD_TOKEN.
provider "runtimecloud" {}

resource "runtimecloud_quota" "team_a" {
  name   = "seen-team-a"
  limits = { workers = { hard = 20 } }
}

data "runtimecloud_quota" "team_a" {
  name = runtimecloud_quota.team_a.name
}

output "workers_in_use" {
  value = lookup(data.runtimecloud_quota.team_a.used, "workers", "0")
}
