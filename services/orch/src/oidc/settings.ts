import { settingsOf, settingTypes } from '@orch/platform'

const { list, path, string } = settingTypes
const setting = settingsOf('Authentication')

/** ID tokens of an OpenID provider. */
export const oidcSettings = {
  oidcIssuerUrl: setting({
    flag: '--oidc-issuer-url',
    type: string,
    doc: 'Issuer URL of the OpenID provider whose ID tokens are accepted: https, and without /.well-known/openid-configuration.',
  }),
  oidcClientId: setting({
    flag: '--oidc-client-id',
    type: string,
    doc: 'Client ID that must be in the audience of all ID tokens. Required with --oidc-issuer-url.',
  }),
  oidcCaFile: setting({
    flag: '--oidc-ca-file',
    type: path,
    doc: "Certificate authorities of the provider's HTTPS endpoint; by default those of the system.",
  }),
  oidcUsernameClaim: setting({ flag: '--oidc-username-claim', type: string, default: 'sub', doc: 'Claim that contains the user name.' }),
  oidcUsernamePrefix: setting({
    flag: '--oidc-username-prefix',
    type: string,
    doc: 'Prefix for user names, to avoid clashes with other authenticators. Default: the issuer URL and # for claims other than email; - means no prefix.',
  }),
  oidcGroupsClaim: setting({
    flag: '--oidc-groups-claim',
    type: string,
    doc: "Claim that contains the user's groups, a list of strings. By default users have no groups.",
  }),
  oidcGroupsPrefix: setting({
    flag: '--oidc-groups-prefix',
    type: string,
    doc: 'Prefix for group names. Without it the provider can put users into any group, such as system:masters.',
  }),
  oidcRequiredClaim: setting({
    flag: '--oidc-required-claim',
    type: list,
    doc: 'Claim and the value that it must have, such as azp=deployer. May be repeated; all must match.',
  }),
  oidcSigningAlgs: setting({
    flag: '--oidc-signing-algs',
    type: list,
    default: 'RS256',
    doc: 'Signature algorithms that are accepted: RS256, RS384, RS512, ES256, ES384, ES512, PS256, PS384, PS512.',
  }),
}
