terraform {
  required_providers {
    runtimecloud = {
      source = "runtimecloud/runtimecloud"
    }
  }
}

locals {
  workers = {
    web   = { cpu = "500m", memory = "512Mi" }
    batch = { cpu = "2", memory = "1536Mi" }
  }
}

output "cpu" {
  value = provider::runtimecloud::sum_quantities("cpu", local.workers.web.cpu, local.workers.batch.cpu, 1) # 3500m
}

output "memory" {
  value = provider::runtimecloud::sum_quantities("memory", [for worker in local.workers : worker.memory]) # 2Gi
}
