import { setting, settingTypes } from '@orch/platform'

const { duration, path, string } = settingTypes
const group = 'Authentication'

/** A server that is asked whose a token is. */
export const tokenWebhookSettings = {
  tokenWebhookConfigFile: setting({
    flag: '--authentication-token-webhook-config-file',
    env: 'ORCH_AUTHENTICATION_TOKEN_WEBHOOK_CONFIG_FILE',
    type: path,
    default: '',
    group,
    doc: 'Client configuration file of the webhook that receives TokenReviews for tokens that no other authenticator accepts.',
  }),
  tokenWebhookVersion: setting({
    flag: '--authentication-token-webhook-version',
    env: 'ORCH_AUTHENTICATION_TOKEN_WEBHOOK_VERSION',
    type: string,
    default: 'v1beta1',
    group,
    doc: 'Version of the TokenReviews that are sent to the webhook: v1 or v1beta1, with or without the group.',
  }),
  tokenWebhookCacheTtlMs: setting({
    flag: '--authentication-token-webhook-cache-ttl',
    env: 'ORCH_AUTHENTICATION_TOKEN_WEBHOOK_CACHE_TTL',
    type: duration,
    default: '2m',
    group,
    doc: "How long the webhook's decisions are cached, positive and negative.",
  }),
}
