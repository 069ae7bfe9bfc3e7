import { setting, settingTypes } from '@orch/platform'

const { list, path, string } = settingTypes
const group = 'Authentication'

/** ID tokens of an OpenID provider. */
export const oidcSettings = {
  oidcIssuerUrl: setting({
    flag: '--oidc-issuer-url',
    env: 'ORCH_OIDC_ISSUER_URL',
    type: string,
    default: '',
    group,
    doc: 'Issuer URL of the OpenID provider whose ID tokens are accepted: https, and without /.well-known/openid-configuration.',
  }),
  oidcClientId: setting({
    flag: '--oidc-client-id',
    env: 'ORCH_OIDC_CLIENT_ID',
    type: string,
    default: '',
    group,
    doc: 'Client ID that must be in the audience of all ID tokens. Required with --oidc-issuer-url.',
  }),
  oidcCaFile: setting({
    flag: '--oidc-ca-file',
    env: 'ORCH_OIDC_CA_FILE',
    type: path,
    default: '',
    group,
    doc: "Certificate authorities of the provider's HTTPS endpoint; by default those of the system.",
  }),
  oidcUsernameClaim: setting({
    flag: '--oidc-username-claim',
    env: 'ORCH_OIDC_USERNAME_CLAIM',
    type: string,
    default: 'sub',
    group,
    doc: 'Claim that contains the user name.',
  }),
  oidcUsernamePrefix: setting({
    flag: '--oidc-username-prefix',
    env: 'ORCH_OIDC_USERNAME_PREFIX',
    type: string,
    default: '',
    group,
    doc: 'Prefix for user names, to avoid clashes with other authenticators. Default: the issuer URL and # for claims other than email; - means no prefix.',
  }),
  oidcGroupsClaim: setting({
    flag: '--oidc-groups-claim',
    env: 'ORCH_OIDC_GROUPS_CLAIM',
    type: string,
    default: '',
    group,
    doc: "Claim that contains the user's groups, a list of strings. By default users have no groups.",
  }),
  oidcGroupsPrefix: setting({
    flag: '--oidc-groups-prefix',
    env: 'ORCH_OIDC_GROUPS_PREFIX',
    type: string,
    default: '',
    group,
    doc: 'Prefix for group names. Without it the provider can put users into any group, such as system:masters.',
  }),
  oidcRequiredClaim: setting({
    flag: '--oidc-required-claim',
    env: 'ORCH_OIDC_REQUIRED_CLAIM',
    type: list,
    default: '',
    group,
    doc: 'Claim and the value that it must have, such as azp=deployer. May be repeated; all must match.',
  }),
  oidcSigningAlgs: setting({
    flag: '--oidc-signing-algs',
    env: 'ORCH_OIDC_SIGNING_ALGS',
    type: list,
    default: 'RS256',
    group,
    doc: 'Signature algorithms that are accepted: RS256, RS384, RS512, ES256, ES384, ES512, PS256, PS384, PS512.',
  }),
}
