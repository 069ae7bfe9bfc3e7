import type { Gvk } from '@orch/core/catalogue'
import type { AdmissionAccess, Attributes } from '@orch/core/contracts'
import type { AdmissionRequestInput, PolicyInput } from '@orch/core/policies'
import { type Inquiry, isSameAccess, type Verdict } from '../plugin.ts'
import type { RequestVersion } from './equivalents.ts'
import { isOfNamespace } from './match.ts'

/** A request in the version that a policy matches. */
export interface SeenRequest {
  readonly attributes: Attributes
  /** The request in its original version. */
  readonly own: RequestVersion
  readonly asVersion: RequestVersion
  /** The object in `asVersion`; undefined if absent. */
  readonly object: unknown
  readonly oldObject: unknown
}

/** A request as expressions and webhooks see it, without empty members. */
export function requestInputOf({
  attributes,
  own,
  asVersion,
}: Pick<SeenRequest, 'attributes' | 'own' | 'asVersion'>): AdmissionRequestInput {
  const { user, name, operation, options, dryRun } = attributes
  return {
    kind: kindOf(asVersion.kind),
    resource: resourceOf(asVersion),
    ...filled({ subResource: asVersion.subresource }),
    requestKind: kindOf(own.kind),
    requestResource: resourceOf(own),
    ...filled({ requestSubResource: own.subresource, name, namespace: isOfNamespace(attributes) ? name : attributes.namespace }),
    operation,
    userInfo: filled({ username: user.name, uid: user.uid, groups: user.groups, extra: user.extra }),
    dryRun,
    options: operation === 'CONNECT' ? null : (options ?? null),
  }
}

function kindOf({ group, version, kind }: Gvk): Gvk {
  return { group, version, kind }
}

function resourceOf({ group, version, resource }: RequestVersion): AdmissionRequestInput['resource'] {
  return { group, version, resource }
}

function filled<T extends object>(members: T): Partial<T> {
  const kept = Object.entries(members).filter(([, value]) => Object.keys(value).length > 0)
  return Object.fromEntries(kept) as Partial<T>
}

/**
 * The accesses that expressions check with the authorizer. The gateway decides: an access without an answer counts as refused, and the evaluation is
 * repeated when the gateway has answered.
 */
export class AskedAccesses {
  readonly #inquiry: Inquiry
  readonly #unknown: AdmissionAccess[] = []

  constructor(inquiry: Inquiry) {
    this.#inquiry = inquiry
  }

  readonly authorize: PolicyInput['authorize'] = (request) => {
    const account =
      request.serviceAccount === undefined ? {} : { account: `${request.serviceAccount.namespace}:${request.serviceAccount.name}` }
    const { verb } = request
    const access: AdmissionAccess =
      request.kind === 'path'
        ? { verb, group: '', version: '', resource: '', subresource: '', namespace: '', name: '', path: request.path, ...account }
        : {
            verb,
            group: request.group,
            version: '*',
            resource: request.resource,
            subresource: request.subresource,
            namespace: request.namespace,
            name: request.name,
            ...(request.fieldSelector ? { fieldSelector: request.fieldSelector } : {}),
            ...(request.labelSelector ? { labelSelector: request.labelSelector } : {}),
            ...account,
          }
    const decision = this.#inquiry.decisionOn(access)
    if (decision !== undefined) return decision
    // Equal checks share one answer.
    if (!this.#unknown.some((one) => isSameAccess(one, access))) this.#unknown.push(access)
    return { isAllowed: false, reason: '' }
  }

  /** The number of accesses without an answer. */
  get unknownCount(): number {
    return this.#unknown.length
  }

  /** The checks for the gateway; undefined if all answers are known. */
  get question(): Verdict | undefined {
    return this.#unknown.length === 0 ? undefined : { kind: 'asks', accesses: this.#unknown }
  }
}
