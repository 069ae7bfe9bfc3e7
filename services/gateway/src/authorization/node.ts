import { allowsResource, domainGroup, type Names, nodeRules, type StorageService, type User } from '@orch/core'
import { type Clock, follow, type Log } from '@orch/platform'
import type { Authorizer, Decision, ResourceInfoAccess } from './authorizer.ts'
import { type Links, linksOfClaimVolume, linksOfPod, NodeGraph, nodeOfAttachment } from './node-graph.ts'

export interface NodeAuthorizerOptions {
  readonly storage: StorageService
  readonly names: Names
  readonly clock: Clock
  readonly log: Log
  /** A number in [0, 1). */
  readonly random: () => number
}

/** An authorizer for nodes, and its end. */
export interface NodeAuthorizer extends Authorizer {
  /** Begins to follow storage; resolves when everything has been loaded once. */
  load(): Promise<void>
  close(): void
}

const allow: Decision = { kind: 'allow', reason: '' }
const nothing: Decision = { kind: 'noOpinion', reason: '' }
const userPrefix = 'system:node:'
const nodesGroup = 'system:nodes'

/**
 * Lets `system:node:NAME` of the group `system:nodes` read what the pods on that node need, and keep what is its own. What every
 * node may do is a list of rules.
 */
export function openNodeAuthorizer({ storage, names, clock, log, random }: NodeAuthorizerOptions): NodeAuthorizer {
  const graph = new NodeGraph()
  const closed = new AbortController()
  const rules = nodeRules(names)
  const storageGroup = domainGroup(names, 'storage')
  const places = { storage: storageGroup, coordination: domainGroup(names, 'coordination'), leaseNamespace: names.nodeLeaseNamespace }
  const followed = (resource: string, decode: (value: Uint8Array) => Links) => {
    const following = follow({ storage, clock, log, random, resource, decode, signal: closed.signal })
    following.onChange(({ before, after }) => graph.replace(before, after))
    return following.ready
  }
  let loaded: Promise<unknown> | undefined
  return {
    async load() {
      loaded ??= Promise.all([
        followed('core/pods', linksOfPod),
        followed('core/persistentvolumes', linksOfClaimVolume),
        followed(`${storageGroup}/volumeattachments`, nodeOfAttachment),
      ])
      await loaded
    },
    authorize(user, access) {
      const node = nodeOf(user)
      if (node === undefined) return nothing
      if (node === '') return no(`unknown node for user ${JSON.stringify(user.name)}`)
      if (access.kind === 'path') return nothing
      return decideForNode(node, access, graph, places) ?? (rules.some((rule) => allowsResource(rule, access)) ? allow : nothing)
    },
    rulesOf: (user) =>
      nodeOf(user) === undefined ? { rules: [] } : { rules: [], incomplete: 'node authorizer does not support user rule resolution' },
    close: () => closed.abort(),
  }
}

/** The node as which a user acts; undefined: the user is none. */
function nodeOf({ name, groups }: User): string | undefined {
  return name.startsWith(userPrefix) && groups.includes(nodesGroup) ? name.slice(userPrefix.length) : undefined
}

interface Places {
  /** API groups. */
  readonly storage: string
  readonly coordination: string
  /** Where the leases of nodes lie. */
  readonly leaseNamespace: string
}

/** Undefined: the resource is not one that is looked at by the node's own objects. */
function decideForNode(node: string, access: ResourceInfoAccess, graph: NodeGraph, places: Places): Decision | undefined {
  const { group, resource, subresource } = access
  const isReached = (kind: string) => graph.isReached(node, `${kind}/${access.namespace}/${access.name}`)
  switch (`${resource}.${group}`) {
    case 'secrets.':
    case 'configmaps.':
      return readOne(access, resource, isReached, ['get', 'list', 'watch'])
    case 'persistentvolumeclaims.':
      if (subresource !== 'status') return readOne(access, resource, isReached, ['get'])
      return changeStatus(access, isReached(resource))
    case 'persistentvolumes.':
    case `volumeattachments.${places.storage}`:
      return readOne(access, resource, isReached, ['get'])
    case 'serviceaccounts.':
      return createToken(access, isReached(resource))
    case `leases.${places.coordination}`:
      return keepOwn(node, access, 'can only access lease with the same name as the requesting node', places.leaseNamespace)
    case `csinodes.${places.storage}`:
      return keepOwn(node, access, 'can only access CSINode with the same name as the requesting node')
    default:
      return undefined
  }
}

function readOne(access: ResourceInfoAccess, resource: string, isReached: (kind: string) => boolean, verbs: readonly string[]): Decision {
  if (!verbs.includes(access.verb)) {
    const list = verbs.length > 1 ? 'read' : 'get'
    return no(`can only ${list} resources of this type`)
  }
  if (access.subresource !== '') return no('cannot read subresource')
  if (access.name === '')
    return no(verbs.length > 1 ? 'can only read namespaced object of this type' : 'can only get individual resources of this type')
  return isReached(resource) ? allow : no(unrelated)
}

const unrelated = 'no relationship found between node and this object'

function changeStatus({ verb }: ResourceInfoAccess, isReached: boolean): Decision {
  if (verb !== 'update' && verb !== 'patch') return no('can only update/patch status')
  return isReached ? allow : no(unrelated)
}

function createToken({ verb, subresource, name }: ResourceInfoAccess, isReached: boolean): Decision {
  if (verb !== 'create' || name === '') return no('can only create tokens for individual service accounts')
  if (subresource !== 'token') return no('can only create token subresource of serviceaccount')
  return isReached ? allow : no(unrelated)
}

const ownVerbs = ['get', 'create', 'update', 'patch', 'delete']

function keepOwn(node: string, { verb, name, subresource, namespace }: ResourceInfoAccess, why: string, onlyIn = ''): Decision {
  if (!ownVerbs.includes(verb)) return no('can only get, create, update, patch, or delete an object of this type')
  if (subresource !== '') return no('cannot access subresources')
  if (onlyIn !== '' && namespace !== onlyIn) return no(`can only access leases in the ${JSON.stringify(onlyIn)} system namespace`)
  // A create has its name in the object, where admission looks at it.
  return verb === 'create' || name === node ? allow : no(why)
}

function no(reason: string): Decision {
  return { kind: 'noOpinion', reason }
}
