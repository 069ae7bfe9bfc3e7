import type { HealthCheck } from '../health-check.ts'
import { type AttributePolicy, createAttributePolicy } from './attribute-policy.ts'
import { type Authorizer, allowHealth, allowMasters, alwaysAllow, alwaysDeny } from './authorizer.ts'
import { openNodeAuthorizer } from './node.ts'
import { Roles, type RolesOptions } from './roles.ts'
import { type AccessWebhookOptions, createAccessWebhook } from './webhook.ts'

/** The ways to decide that there are, by their names in `--authorization-mode`. */
export const authorizationModes = ['AlwaysAllow', 'AlwaysDeny', 'ABAC', 'Webhook', 'RBAC', 'Node'] as const
export type AuthorizationMode = (typeof authorizationModes)[number]

export interface AuthorizationOptions extends RolesOptions {
  /** Asked in this order. */
  readonly modes: readonly AuthorizationMode[]
  /** Of the mode ABAC. */
  readonly policies: readonly AttributePolicy[]
  /** Of the mode Webhook. */
  readonly webhook: Pick<AccessWebhookOptions, 'send' | 'version' | 'authorizedTtlMs' | 'unauthorizedTtlMs'> | undefined
}

/** Who may do what, for a gateway. The opener closes it. */
export interface Authorization {
  readonly authorizers: readonly Authorizer[]
  /** Roles and bindings, for questions about them whatever the mode; undefined: no question is ever denied. */
  readonly roles: Roles | undefined
  /** Begins to follow what decisions rest on; resolves when it is all there. Only administrators are let in before, and questions about health. */
  load(): Promise<void>
  /** Fails until everything is loaded. */
  readonly check: HealthCheck
  close(): void
}

/** Opens what the modes need. The administrators' group is asked first in every mode. */
export function openAuthorization(options: AuthorizationOptions): Authorization {
  const { modes } = options
  if (modes.every((mode) => mode === 'AlwaysAllow')) return everythingAllowed
  const roles = new Roles(options)
  const node = modes.includes('Node') ? openNodeAuthorizer(options) : undefined
  let isLoaded = false
  return {
    authorizers: [allowMasters, allowHealth(() => !isLoaded), ...modes.map((mode) => authorizerOf(mode, options, roles, node))],
    roles,
    async load() {
      await Promise.all([roles.load(), node?.load()])
      isLoaded = true
    },
    check: { name: 'authorization', check: () => (isLoaded ? undefined : 'roles and bindings are being loaded') },
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
  check: { name: 'authorization', check: () => undefined },
  close: () => {},
}

function authorizerOf(
  mode: AuthorizationMode,
  options: AuthorizationOptions,
  roles: Roles,
  node: ReturnType<typeof openNodeAuthorizer> | undefined,
): Authorizer {
  switch (mode) {
    case 'AlwaysAllow':
      return alwaysAllow
    case 'AlwaysDeny':
      return alwaysDeny
    case 'ABAC':
      return createAttributePolicy(options.policies)
    case 'RBAC':
      return roles
    case 'Node':
      if (node === undefined) throw new Error('the authorizer of nodes has not been opened')
      return node
    case 'Webhook':
      if (options.webhook === undefined) throw new Error('the mode Webhook needs a webhook to ask')
      return createAccessWebhook({ ...options, ...options.webhook })
  }
}
