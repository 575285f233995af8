# The web pool; ask the platform team before you shrink it.
resource "runtimecloud_worker_pool" "web" {
  name        = "web"
  environment = runtimecloud_environment.dev.name
  size        = 3 # one for each zone

  labels = { team = "a" }

  worker = {
    command = ["sh", "-c", "exec python3 -m http.server $PORT_HTTP"]
    ports   = ["http"]
    shape   = { cpu = "100m", memory = "64Mi" }
  }

  readiness = { http = { port = "http", path = "/" } }
}
