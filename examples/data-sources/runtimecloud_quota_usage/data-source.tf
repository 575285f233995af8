terraform {
  required_providers {
    runtimecloud = {
      source = "runtimecloud/runtimecloud"
    }
  }
}

# The endpoint and the token come from RUNTIMECLOUD_ENDPOINT and RUNTIMECLOUD_TOKEN.
provider "runtimecloud" {}

resource "runtimecloud_quota" "team" {
  name   = "seen-usage-team"
  limits = { workers = { hard = "4" } }
}

data "runtimecloud_quota_usage" "team" {
  quota = runtimecloud_quota.team.id
}

output "free_workers" {
  value = data.runtimecloud_quota_usage.team.resources["workers"].free_amount
}
