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
  name = "quota-team-a"

  limits = {
    cpu     = { hard = "2" }
    memory  = { hard = "2Gi", soft = "1536Mi" }
    workers = { hard = 20, soft = 10 }
  }
}

# A share of what another quota has. Of what the team leaves unused, others may borrow half a CPU.
resource "runtimecloud_quota" "team_b" {
  name   = "quota-team-b"
  parent = runtimecloud_quota.team_a.name

  limits = {
    cpu = { share = "1", borrowing = "500m", lending = "500m" }
  }
}
