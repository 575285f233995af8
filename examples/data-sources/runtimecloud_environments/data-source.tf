terraform {
  required_providers {
    runtimecloud = {
      source = "runtimecloud/runtimecloud"
    }
  }
}

# The endpoint and the token come from RUNTIMECLOUD_ENDPOINT and RUNTIMECLOUD_TOKEN.
provider "runtimecloud" {}

resource "runtimecloud_environment" "stages" {
  for_each = toset(["seen-environments-dev", "seen-environments-live"])

  name   = each.key
  labels = { seen = "environments" }
}

# Only those that carry all these labels.
data "runtimecloud_environments" "seen" {
  labels     = { seen = "environments" }
  depends_on = [runtimecloud_environment.stages]
}

output "workers" {
  value = { for environment in data.runtimecloud_environments.seen.environments : environment.name => environment.worker_count }
}
