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
  name = "seen-pools-dev"
}

resource "runtimecloud_worker_pool" "sizes" {
  for_each = toset(["batch", "web"])

  name        = each.key
  environment = runtimecloud_environment.dev.name
  size        = 0
  worker      = { command = ["sleep", "3600"] }
}

# Only those of one environment.
data "runtimecloud_worker_pools" "dev" {
  environment = runtimecloud_environment.dev.name
  depends_on  = [runtimecloud_worker_pool.sizes]
}

output "sizes" {
  value = { for pool in data.runtimecloud_worker_pools.dev.worker_pools : pool.name => pool.size }
}
