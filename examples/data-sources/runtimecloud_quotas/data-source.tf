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
  name   = "seen-quotas-team"
  limits = { workers = { hard = "4" } }
  labels = { seen = "quotas" }
}

data "runtimecloud_quotas" "seen" {
  labels     = { seen = "quotas" }
  depends_on = [runtimecloud_quota.team]
}

output "limits" {
  value = { for quota in data.runtimecloud_quotas.seen.quotas : quota.name => quota.limits }
}
