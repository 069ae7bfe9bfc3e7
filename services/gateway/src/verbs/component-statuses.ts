import { type Entry, objectKey, type StorageService } from '@orch/core/contracts'
import { printJson } from '@orch/core/json'
import { type ApiObject, notFound } from '@orch/core/meta'
import { domainGroup, type Names } from '@orch/core/names'
import { parseStored } from '@orch/core/schema'
import { matchesFields, matchesLabels } from '@orch/core/selectors'
import { messageOf } from '@orch/platform'
import { onePart, toEntry } from '../representations/computed-entry.ts'
import { listRepresentationOf } from '../representations/list-representation.ts'
import { type RespondStoredParts, respondStored } from '../representations/respond-stored.ts'
import { type SendParts, sendPieces } from '../representations/send-pieces.ts'
import { callContext, type GatewayRequest } from '../request/request.ts'
import { rangeOf, type SelectionParts } from '../target/selection.ts'
import type { Served } from '../target/target.ts'
import { inOrder } from '../write/prepare.ts'
import { refuseExport, type Verb } from './verb.ts'

/** The dependencies of the health of the components. */
export type ComponentStatusParts = RespondStoredParts &
  SendParts &
  SelectionParts & {
    readonly names: Names
    readonly storage: Pick<StorageService, 'get' | 'status'>
    /** Controllers in the process of this gateway; undefined if others may run them. */
    readonly runsControllers: boolean
    readonly runsScheduler: boolean
  }

/** A component of the control plane: the source of its health, undefined if healthy. */
interface Component {
  readonly name: string
  readonly problem: Problem | undefined
}

/** `message` for an absent component; `error` for one that does not answer. */
type Problem = { readonly message: string } | { readonly error: string }

/** Leases of the controllers, in the system namespace: those of `orch controllers`, and of a controller manager of another product. */
const ownControllersLease = 'controllers'
const schedulerLease = 'kube-scheduler'

/** The components of this control plane, checked at each read, by name. */
export const listComponentStatuses: Verb<ComponentStatusParts> = async (request, { served, info }, parts) => {
  const { selection } = rangeOf(served, info, request.query, parts)
  const { revision } = await parts.storage.status({}, callContext(request, parts))
  const chosen = (await componentsOf(request, parts)).filter(
    ({ name }) => matchesLabels(selection.labels, undefined) && matchesFields(selection.fields, { 'metadata.name': name }),
  )
  const entries = chosen.map((component) => entryOf(served, component))
  const representation = listRepresentationOf(request, served, parts)
  const pieces = representation.pieces({ metadata: { resourceVersion: String(revision) }, objects: onePart(entries) })
  await sendPieces(request, parts, representation.format, pieces)
}

/** One component by name. */
export const getComponentStatus: Verb<ComponentStatusParts> = async (request, { served, info }, parts) => {
  refuseExport(request)
  const component = (await componentsOf(request, parts)).find(({ name }) => name === info.name)
  // The singular, as in kube-apiserver.
  if (component === undefined) throw notFound({ group: '', resource: 'componentstatus' }, info.name)
  await respondStored(request, { code: 200, served, content: entryOf(served, component) }, parts)
}

function toStatus({ name, problem }: Component): ApiObject & { readonly conditions: readonly object[] } {
  const condition =
    problem === undefined ? { status: 'True', message: 'ok' } : { status: 'message' in problem ? 'False' : 'Unknown', ...problem }
  return { kind: 'ComponentStatus', apiVersion: 'v1', metadata: { name }, conditions: [{ type: 'Healthy', ...condition }] }
}

function entryOf({ resource }: Served, component: Component): Entry {
  return toEntry(Buffer.from(printJson(inOrder(resource, toStatus(component)))), component.name)
}

async function componentsOf(request: GatewayRequest, parts: ComponentStatusParts): Promise<readonly Component[]> {
  const [controllers, members, scheduler] = await Promise.all([
    parts.runsControllers ? undefined : leaseProblem([ownControllersLease, parts.names.controllerManager], request, parts),
    storeProblems(request, parts),
    parts.runsScheduler ? undefined : leaseProblem([schedulerLease], request, parts),
  ])
  return [
    { name: 'controller-manager', problem: controllers },
    ...members.map((problem, index) => ({ name: `etcd-${index}`, problem })),
    { name: 'scheduler', problem: scheduler },
  ]
}

/** One for each member of etcd, or one for the embedded store. */
async function storeProblems(request: GatewayRequest, parts: ComponentStatusParts): Promise<readonly (Problem | undefined)[]> {
  try {
    const { members } = await parts.storage.status({ asksMembers: true }, callContext(request, parts))
    return members.map((problem) => (problem === '' ? undefined : { error: problem }))
  } catch (error) {
    return [{ error: messageOf(error) }]
  }
}

/** A component with leader election is present while one of its Leases is renewed. */
async function leaseProblem(leases: readonly string[], request: GatewayRequest, parts: ComponentStatusParts): Promise<Problem | undefined> {
  try {
    for (const lease of leases) if (await isHeld(lease, request, parts)) return undefined
  } catch (error) {
    return { error: messageOf(error) }
  }
  return { message: `no leader has renewed the Lease ${leases.map((lease) => `${parts.names.systemNamespace}/${lease}`).join(' or ')}` }
}

async function isHeld(lease: string, request: GatewayRequest, parts: ComponentStatusParts): Promise<boolean> {
  const { names, storage, clock } = parts
  const key = objectKey(`${domainGroup(names, 'coordination')}/leases`, names.systemNamespace, lease)
  const { entry } = await storage.get({ key, read: { kind: 'latest' } }, callContext(request, parts))
  if (entry === undefined) return false
  const { renewTime, leaseDurationSeconds = 0, holderIdentity = '' } = parseStored('coordination/v1.Lease', entry.value).spec ?? {}
  const renewedMs = renewTime === undefined ? Number.NaN : Date.parse(renewTime)
  return holderIdentity !== '' && clock.now() < renewedMs + leaseDurationSeconds * 1_000
}
