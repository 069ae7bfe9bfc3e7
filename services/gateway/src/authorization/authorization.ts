import type { User } from '@orch/core/contracts'
import type { HealthCheck } from '../server/health-check.ts'
import { type AttributePolicy, createAttributePolicy } from './attribute-policy.ts'
import type { AuthorizationMetrics } from './authorization-metrics.ts'
import {
  type Access,
  type Authorizer,
  allowHealth,
  allowMasters,
  alwaysAllow,
  alwaysDeny,
  type Decision,
  decide,
  type KnownRules,
} from './authorizer.ts'
import { openNodeAuthorizer } from './node.ts'
import { Roles, type RolesOptions } from './roles.ts'

/** The authorization modes, by their names in `--authorization-mode`. */
export const authorizationModes = ['AlwaysAllow', 'AlwaysDeny', 'ABAC', 'Webhook', 'RBAC', 'Node'] as const
export type AuthorizationMode = (typeof authorizationModes)[number]

/** A mode, or an authorizer of the mode Webhook, of which there may be several. */
export type AuthorizationLink = Exclude<AuthorizationMode, 'Webhook'> | Authorizer

export interface AuthorizationOptions extends RolesOptions {
  /** Minor version of the release whose rules nodes have. */
  readonly level: number
  /** In call order. */
  readonly chain: readonly AuthorizationLink[]
  /** True if the authorizers may be replaced later. */
  readonly isReplaceable?: boolean
  /** Policies of the mode ABAC. */
  readonly policies: readonly AttributePolicy[]
  /** Undefined if nothing is counted. */
  readonly counted?: AuthorizationMetrics
}

/** The authorizers of a gateway. The opener closes them. */
export interface Authorization {
  readonly authorizers: readonly Authorizer[]
  /** Roles and bindings, for checks in any mode; undefined if every access is allowed. */
  readonly roles: Roles | undefined
  /** Starts to watch the objects that decisions depend on; resolves when all are loaded. Until then only administrators and health checks are allowed. */
  load(): Promise<void>
  /** Replaces the authorizers, if enabled; the modes stay those of the start. */
  replace(chain: readonly AuthorizationLink[]): void
  /** Fails until everything is loaded. */
  readonly check: HealthCheck
  close(): void
}

/** Opens the dependencies of the modes. The administrators' group is checked first in every mode. */
export function openAuthorization(options: AuthorizationOptions): Authorization {
  const { chain, isReplaceable = false } = options
  if (!isReplaceable && chain.every((link) => link === 'AlwaysAllow')) return everythingAllowed
  const roles = new Roles(options)
  const node = chain.includes('Node') ? openNodeAuthorizer(options) : undefined
  const opened = { roles, node, policies: createAttributePolicy(options.policies) }
  const toAuthorizers = (links: readonly AuthorizationLink[]) => links.map((link) => modeOf(link, authorizerOf(link, opened), options))
  const replaceable = isReplaceable ? new ReplaceableChain(toAuthorizers(chain)) : undefined
  let isLoaded = false
  return {
    authorizers: [allowMasters, allowHealth(() => !isLoaded), ...(replaceable === undefined ? toAuthorizers(chain) : [replaceable])],
    roles,
    async load() {
      await Promise.all([roles.load(), node?.load()])
      isLoaded = true
    },
    replace: (links) => replaceable?.replace(toAuthorizers(links)),
    check: { name: 'authorization', condition: 'access', check: () => (isLoaded ? undefined : 'roles and bindings are being loaded') },
    close() {
      roles.close()
      node?.close()
    },
  }
}

const everythingAllowed: Authorization = {
  authorizers: [alwaysAllow],
  roles: undefined,
  load: async () => {},
  replace: () => {},
  check: { name: 'authorization', condition: 'access', check: () => undefined },
  close: () => {},
}

/** The first level that names authorizers in refusals. */
const namesSince = 37

/** Gives a mode its name and its metrics. Other authorizers already have both. */
function modeOf(link: AuthorizationLink, authorizer: Authorizer, { counted, level }: AuthorizationOptions): Authorizer {
  if (typeof link !== 'string') return level >= namesSince ? authorizer : { ...authorizer, name: undefined }
  const name = link.toLowerCase()
  const own = { decided: counted?.decisionsOf(link, name), ...(level >= namesSince && { name }) }
  // All servers of the process share these two.
  return authorizer === alwaysAllow || authorizer === alwaysDeny ? { ...authorizer, ...own } : Object.assign(authorizer, own)
}

interface OpenedModes {
  readonly roles: Roles
  readonly node: ReturnType<typeof openNodeAuthorizer> | undefined
  readonly policies: Authorizer
}

function authorizerOf(link: AuthorizationLink, { roles, node, policies }: OpenedModes): Authorizer {
  switch (link) {
    case 'AlwaysAllow':
      return alwaysAllow
    case 'AlwaysDeny':
      return alwaysDeny
    case 'ABAC':
      return policies
    case 'RBAC':
      return roles
    case 'Node':
      if (node === undefined) throw new Error('the authorizer of nodes has not been opened')
      return node
    default:
      return link
  }
}

/** Several authorizers as one, which can be replaced. A request in progress finishes with its original authorizers. */
class ReplaceableChain implements Authorizer {
  #authorizers: readonly Authorizer[]

  constructor(authorizers: readonly Authorizer[]) {
    this.#authorizers = authorizers
  }

  replace(authorizers: readonly Authorizer[]): void {
    this.#authorizers = authorizers
  }

  authorize(user: User, access: Access): Decision | Promise<Decision> {
    return decide(this.#authorizers, user, access)
  }

  rulesOf(user: User, namespace: string): KnownRules {
    const known = this.#authorizers.map((authorizer) => authorizer.rulesOf(user, namespace))
    const errors = known.flatMap(({ error }) => error ?? [])
    return {
      rules: known.flatMap(({ rules }) => rules),
      isIncomplete: known.some(({ isIncomplete }) => isIncomplete === true),
      ...(errors.length === 0 ? {} : { error: errors.join(', ') }),
    }
  }
}
