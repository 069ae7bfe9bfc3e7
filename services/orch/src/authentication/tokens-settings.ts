import { settingsOf, settingTypes } from '@orch/platform'

const { bool, duration, list, path, string } = settingTypes
const setting = settingsOf('Authentication')

/** Tokens that the server itself knows: of a file, of Secrets, of service accounts. */
export const tokenSettings = {
  tokenAuthFile: setting({
    flag: '--token-auth-file',
    type: path,
    doc: 'CSV file with static tokens, read once at the start: token,user,uid and optionally "group,group".',
  }),
  enableBootstrapTokenAuth: setting({
    flag: '--enable-bootstrap-token-auth',
    type: bool,
    default: 'false',
    doc: 'Accepts bootstrap tokens from Secrets in the system namespace.',
  }),
  serviceAccountKeyFile: setting({
    flag: '--service-account-key-file',
    type: list,
    defaultDoc: 'the file of --tls-private-key-file',
    doc: 'Files with RSA or ECDSA keys in PEM format, private or public, any number per file, that verify service account tokens. The signing key is always included.',
  }),
  serviceAccountSigningKeyFile: setting({
    flag: '--service-account-signing-key-file',
    type: path,
    doc: 'Private key that signs service account tokens. Without it orch up generates one in its data folder. Separate gateways require it, and all of them the same one.',
  }),
  serviceAccountIssuer: setting({
    flag: '--service-account-issuer',
    type: list,
    defaultDoc: 'https://<server>.default.svc.cluster.local',
    doc: 'Issuers of service account tokens: the first is used for new tokens, all are accepted. Others find the verification keys at an https issuer.',
  }),
  serviceAccountJwksUri: setting({
    flag: '--service-account-jwks-uri',
    type: string,
    doc: 'https URL where others find the public keys; by default /openid/v1/jwks of this server.',
  }),
  serviceAccountLookup: setting({
    flag: '--service-account-lookup',
    type: bool,
    default: 'true',
    doc: 'Accepts a token from a Secret only while the Secret and its service account exist. Other service account tokens are always looked up.',
  }),
  serviceAccountMaxTokenExpirationMs: setting({
    flag: '--service-account-max-token-expiration',
    type: duration,
    default: '0s',
    doc: 'Maximum lifetime of a requested token, from 1h to 2^32s; longer requests are shortened to it. 0 means no limit.',
  }),
  serviceAccountExtendTokenExpiration: setting({
    flag: '--service-account-extend-token-expiration',
    type: bool,
    default: 'true',
    doc: 'Extends the tokens that projected volumes of pods request to one year; use after the requested time is recorded in audit events.',
  }),
  apiAudiences: setting({
    flag: '--api-audiences',
    type: list,
    defaultDoc: 'those of --service-account-issuer',
    doc: 'Audiences of tokens for this server.',
  }),
}
