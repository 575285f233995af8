resource "runtimecloud_event_subscription" "hook" {
  name = "hook"
  url          = "http://127.0.0.1:9/hooks"
  types        = ["TokenRotated", "QuotaChanged"]
  timeout      = "10000ms"
  max_attempts = 12
  retry_min    = "1s"
  retry_max    = "600s"
  suspended    = false
  secret_wo    = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
}
