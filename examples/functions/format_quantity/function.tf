terraform {
  required_providers {
    runtimecloud = {
      source = "runtimecloud/runtimecloud"
    }
  }
}

locals {
  bytes = provider::runtimecloud::parse_quantity("1Gi", "memory")
}

output "half" {
  value = provider::runtimecloud::format_quantity(local.bytes / 2, "memory") # 512Mi
}

output "a_third" {
  value = provider::runtimecloud::format_quantity(floor(local.bytes / 3), "memory") # 357913941
}
