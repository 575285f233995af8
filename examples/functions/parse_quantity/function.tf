terraform {
  required_providers {
    runtimecloud = {
      source = "runtimecloud/runtimecloud"
    }
  }
}

output "millicores" {
  value = provider::runtimecloud::parse_quantity("500m", "cpu") # 500
}

output "bytes" {
  value = provider::runtimecloud::parse_quantity("1Gi", "memory") # 1073741824
}
