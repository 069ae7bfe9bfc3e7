import type { User } from '@orch/core/contracts'
import type { PolicyRule } from '@orch/core/rbac'
import type { Authorizer, Decision } from './authorizer.ts'

const allow: Decision = { kind: 'allow', reason: '' }
const noOpinion: Decision = { kind: 'noOpinion', reason: '' }
const everything: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
]

/** The group whose members may do everything in every mode, so that a broken configuration can be mended. */
const mastersGroup = 'system:masters'

export const isMaster = ({ groups }: User): boolean => groups.includes(mastersGroup)

/** Allows the members of the group of administrators everything. It lists no rules: those of the roles say the same. */
export const allowMasters: Authorizer = {
  authorize: (user) => (isMaster(user) ? allow : noOpinion),
  rulesOf: () => ({ rules: [] }),
}

/**
 * Answers health checks for all users until the roles that decide about them are loaded: a
 * supervisor must not end this process because storage is away.
 */
export const allowHealth = (applies: () => boolean): Authorizer => ({
  authorize: (_user, access) =>
    access.kind === 'path' && access.verb === 'get' && /^\/(?:livez|readyz|healthz)$/.test(access.path) && applies() ? allow : noOpinion,
  rulesOf: () => ({ rules: [] }),
})

/** The mode in which everybody who is known may do everything. */
export const alwaysAllow: Authorizer = { authorize: () => allow, rulesOf: () => ({ rules: everything }) }

/** The mode that denies every other request. */
export const alwaysDeny: Authorizer = {
  authorize: () => ({ kind: 'noOpinion', reason: 'Everything is forbidden.' }),
  rulesOf: () => ({ rules: [] }),
}
