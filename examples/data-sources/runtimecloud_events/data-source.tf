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
  name   = "seen-events-team"
  limits = { workers = { hard = "4" } }
}

# What became of the quota, the last first.
data "runtimecloud_events" "quota" {
  subject_id   = runtimecloud_quota.team.id
  newest_first = true
  limit        = 10
}

output "history" {
  value = [for event in data.runtimecloud_events.quota.events : "${event.time} ${event.type} by ${event.actor}"]
}
