resource "runtimecloud_event_subscription" "hook" {
  name = "hook"
  url       = "http://127.0.0.1:9/hooks"
  types     = ["QuotaChanged", "TokenRotated"]
  secret_wo = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
}
