import type { User } from '@orch/core/contracts'
import { domainGroup } from '@orch/core/names'
import { allowsResource, nodeRules } from '@orch/core/rbac'
import { parseFieldSelector } from '@orch/core/selectors'
import { ended, Reflector } from '@orch/platform'
import type { Surroundings } from '../surroundings.ts'
import type { AuthorizationMetrics } from './authorization-metrics.ts'
import type { Authorizer, Decision, ResourceInfoAccess } from './authorizer.ts'
import {
  type Links,
  linksOfClaimVolume,
  linksOfPod,
  NodeGraph,
  nodeOfAttachment,
  nodeOfCertificateRequest,
  nodeOfSlice,
} from './node-graph.ts'

export interface NodeAuthorizerOptions extends Pick<Surroundings, 'storage' | 'names' | 'level' | 'clock' | 'log' | 'random'> {
  /** Undefined if nothing is counted. */
  readonly counted?: Pick<AuthorizationMetrics, 'graphChanged'> | undefined
}

/** An authorizer for nodes, with its close function. */
export interface NodeAuthorizer extends Authorizer {
  /** Starts to watch storage; resolves when everything has been loaded. */
  load(): Promise<void>
  close(): void
}

const allow: Decision = { kind: 'allow', reason: '' }
const nothing: Decision = { kind: 'noOpinion', reason: '' }
/** The first levels with stable resource claims, with Pod certificates, and with credentials of accounts for images. */
const [devicesSince, certificatesSince, accountsSince] = [34, 37, 34]
const userPrefix = 'system:node:'
const nodesGroup = 'system:nodes'

/**
 * Lets `system:node:NAME` of the group `system:nodes` read the objects that the pods on that node need, and write its own. The list of rules contains
 * the rights of every node.
 */
export function openNodeAuthorizer({ storage, names, level, clock, log, random, counted }: NodeAuthorizerOptions): NodeAuthorizer {
  const graph = new NodeGraph()
  const closed = new AbortController()
  const rules = nodeRules(names, level)
  const storageGroup = domainGroup(names, 'storage')
  const [devices, certificates] = [domainGroup(names, 'resource'), domainGroup(names, 'certificates')]
  const places: Places = {
    storage: storageGroup,
    coordination: domainGroup(names, 'coordination'),
    devices: level >= devicesSince ? devices : undefined,
    certificates: level >= certificatesSince ? certificates : undefined,
    readsAccounts: level >= accountsSince,
    leaseNamespace: names.nodeLeaseNamespace,
  }
  const followed = (kind: string, resource: string, decode: (value: Uint8Array) => Links) => {
    const reflector = new Reflector({ storage, clock, log, random, resource, decode, signal: closed.signal })
    reflector.onChange(({ before, after }) => {
      const beganMs = clock.monotonic()
      graph.replace(before, after)
      counted?.graphChanged(`${after === undefined ? 'Delete' : 'Add'}${kind}`, (clock.monotonic() - beganMs) / 1000)
    })
    return reflector.ready
  }
  let loaded: Promise<unknown> | undefined
  return {
    async load() {
      loaded ??= Promise.all([
        followed('Pod', 'core/pods', linksOfPod),
        followed('PV', 'core/persistentvolumes', linksOfClaimVolume),
        followed('VolumeAttachment', `${storageGroup}/volumeattachments`, nodeOfAttachment),
        ...(level >= devicesSince ? [followed('ResourceSlice', `${devices}/resourceslices`, nodeOfSlice)] : []),
        ...(level >= certificatesSince ? [followed('PCR', `${certificates}/podcertificaterequests`, nodeOfCertificateRequest)] : []),
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
      nodeOf(user) === undefined
        ? { rules: [] }
        : { rules: [], isIncomplete: true, error: 'node authorizer does not support user rule resolution' },
    close: () => closed.abort(ended),
  }
}

/** The node of a user; undefined for other users. */
function nodeOf({ name, groups }: User): string | undefined {
  return name.startsWith(userPrefix) && groups.includes(nodesGroup) ? name.slice(userPrefix.length) : undefined
}

interface Places {
  /** API groups. */
  readonly storage: string
  readonly coordination: string
  /** Undefined if the level has none. */
  readonly devices: string | undefined
  readonly certificates: string | undefined
  /** True if a node reads the service accounts of its Pods. */
  readonly readsAccounts: boolean
  /** The namespace of the nodes' leases. */
  readonly leaseNamespace: string
}

/** Undefined if the resource is not authorized by node. */
function decideForNode(node: string, access: ResourceInfoAccess, graph: NodeGraph, places: Places): Decision | undefined {
  const { group, resource, subresource, namespace, name } = access
  const reach = (): Decision => {
    if (name === '') return no('No Object name found')
    return graph.isReached(node, `${resource}/${namespace}/${name}`)
      ? allow
      : no(`no relationship found between node '${node}' and this object`)
  }
  switch (`${resource}.${group}`) {
    case 'secrets.':
    case 'configmaps.':
      return readNamespaced(access, reach)
    case 'persistentvolumeclaims.':
      return subresource === 'status' ? changeStatus(access, reach) : getOne(access, reach)
    case 'persistentvolumes.':
    case `volumeattachments.${places.storage}`:
    case `resourceclaims.${places.devices}`:
      return getOne(access, reach)
    case 'serviceaccounts.':
      return access.verb === 'get' && access.subresource === '' && places.readsAccounts
        ? readNamespaced(access, reach)
        : createToken(access, reach)
    case 'nodes.':
      return keepNode(node, access)
    case 'pods.':
      return keepPods(node, access, reach)
    case `leases.${places.coordination}`:
      return keepLease(node, access, places.leaseNamespace)
    case `csinodes.${places.storage}`:
      return keepDrivers(node, access)
    case `resourceslices.${places.devices}`:
      return keepSlices(node, access, reach)
    case `podcertificaterequests.${places.certificates}`:
      return requestCertificates(node, access, reach)
    default:
      return undefined
  }
}

type Reach = () => Decision

function readNamespaced({ verb, subresource, namespace }: ResourceInfoAccess, reach: Reach): Decision {
  if (!['get', 'list', 'watch'].includes(verb)) return no('can only read resources of this type')
  if (subresource !== '') return no('cannot read subresource')
  return namespace === '' ? no('can only read namespaced object of this type') : reach()
}

function getOne({ verb, subresource }: ResourceInfoAccess, reach: Reach): Decision {
  if (verb !== 'get') return no('can only get individual resources of this type')
  return subresource === '' ? reach() : no('cannot get subresource')
}

function changeStatus({ verb }: ResourceInfoAccess, reach: Reach): Decision {
  return verb === 'update' || verb === 'patch' ? reach() : no('can only get/update/patch this type')
}

function createToken({ verb, subresource, name }: ResourceInfoAccess, reach: Reach): Decision {
  if (verb !== 'create' || name === '') return no('can only create tokens for individual service accounts')
  return subresource === 'token' ? reach() : no('can only create token subresource of serviceaccount')
}

/** Admission checks the object of a write. */
function keepNode(node: string, { verb, subresource, name }: ResourceInfoAccess): Decision {
  const isWrite = verb === 'update' || verb === 'patch'
  if (subresource === 'status') return isWrite ? allow : nothing
  if (subresource !== '') return nothing
  if (isWrite || verb === 'create') return allow
  if (!['get', 'list', 'watch'].includes(verb)) return nothing
  if (name === node) return allow
  return no(`node '${node}' cannot read ${name === '' ? 'all nodes' : `'${name}'`}, only its own Node object`)
}

/** Pods of the node, by field selector or name. */
function keepPods(node: string, access: ResourceInfoAccess, reach: Reach): Decision {
  const { verb, subresource, name } = access
  switch (`${verb} ${subresource}`) {
    case 'get ':
      return reach()
    case 'list ':
    case 'watch ':
      if (selectsObjectsOf(node, access)) return allow
      return name === '' ? no('can only list/watch pods with spec.nodeName field selector') : reach()
    case 'create ':
    case 'delete ':
    case 'update status':
    case 'patch status':
    case 'create eviction':
      return allow
    default:
      return nothing
  }
}

function selectsObjectsOf(node: string, { selectors }: ResourceInfoAccess): boolean {
  const reading = parseFieldSelector(selectors?.field ?? '')
  if (reading.kind === 'malformed') return false
  return reading.requirements.some(({ field, operator, value }) => field === 'spec.nodeName' && operator === 'Equals' && value === node)
}

/** The devices of a node. Admission checks the node of a new slice. */
function keepSlices(node: string, access: ResourceInfoAccess, reach: Reach): Decision {
  const { verb, subresource } = access
  if (subresource !== '') return no('cannot authorize ResourceSlice subresources')
  switch (verb) {
    case 'create':
      return allow
    case 'get':
    case 'update':
    case 'patch':
    case 'delete':
      return reach()
    case 'list':
    case 'watch':
    case 'deletecollection':
      if (selectsObjectsOf(node, access)) return allow
      return no('can only list/watch/deletecollection resourceslices with nodeName field selector')
    default:
      return no(
        'only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection',
      )
  }
}

/** Certificates of the node's Pods. Admission checks the Pod of a new request. */
function requestCertificates(node: string, access: ResourceInfoAccess, reach: Reach): Decision {
  const { verb, subresource } = access
  if (subresource !== '') return no('nodes may not access the status subresource of PodCertificateRequests')
  if (verb === 'create') return allow
  if (verb === 'get') return reach()
  if (verb !== 'list' && verb !== 'watch') return no(`nodes may not ${verb} podcertificaterequests`)
  return selectsObjectsOf(node, access) ? allow : no('can only list/watch podcertificaterequests with nodeName field selector')
}

const ownVerbs = ['get', 'create', 'update', 'patch', 'delete']

/** A create has its name only in the object, which admission checks. */
function keepLease(node: string, { verb, name, namespace }: ResourceInfoAccess, leaseNamespace: string): Decision {
  if (!ownVerbs.includes(verb)) return no('can only get, create, update, patch, or delete a node lease')
  if (namespace !== leaseNamespace) return no(`can only access leases in the ${JSON.stringify(leaseNamespace)} system namespace`)
  return verb === 'create' || name === node ? allow : no('can only access node lease with the same name as the requesting node')
}

function keepDrivers(node: string, { verb, name, subresource }: ResourceInfoAccess): Decision {
  if (!ownVerbs.includes(verb)) return no('can only get, create, update, patch, or delete a CSINode')
  if (subresource !== '') return no('cannot authorize CSINode subresources')
  return verb === 'create' || name === node ? allow : no('can only access CSINode with the same name as the requesting node')
}

function no(reason: string): Decision {
  return { kind: 'noOpinion', reason }
}
