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
    doc: 'Client configuration file of a server that is asked by TokenReview about tokens that nobody else knows.',
  }),
  tokenWebhookVersion: setting({
    flag: '--authentication-token-webhook-version',
    env: 'ORCH_AUTHENTICATION_TOKEN_WEBHOOK_VERSION',
    type: string,
    default: 'v1beta1',
    group,
    doc: 'Version of the TokenReview: v1 or v1beta1, with or without the group before it.',
  }),
  tokenWebhookCacheTtlMs: setting({
    flag: '--authentication-token-webhook-cache-ttl',
    env: 'ORCH_AUTHENTICATION_TOKEN_WEBHOOK_CACHE_TTL',
    type: duration,
    default: '2m',
    group,
    doc: 'How long its decisions are remembered, yes or no.',
  }),
}
