import { type Client, unlessRefused, type VersionedResource } from '@orch/client'
import { type DumpedObject, parsedObject } from '../load/dumped-object.ts'
import { skippedKinds } from '../load/load.ts'

/** The answer that requests for a stored object would get. */
export interface ObjectFinding {
  /** `apps/v1 Deployment default/web` */
  readonly object: string
  /** The affected requests, such as `create`; empty for all. */
  readonly operations: readonly string[]
  /** `refused` for an error; a policy that warns or audits admits the request. */
  readonly verdict: 'refused' | 'warned' | 'audited'
  readonly message: string
}

/** Access to stored objects that an account would lose or gain. */
export interface AccessFinding {
  /** `ServiceAccount team-a/deployer` */
  readonly account: string
  readonly change: 'loses' | 'gains'
  readonly verbs: readonly string[]
  /** `deployments.apps` */
  readonly resource: string
  /** Namespaces with stored objects; empty for the whole cluster. */
  readonly namespaces: readonly string[]
  /** The number of stored objects that the account would lose or gain. */
  readonly objects: number
}

/** Objects that the audit cannot judge, because the server refuses the request even without the change. */
export interface Unchecked {
  readonly kind: string
  readonly operation: string
  readonly count: number
  /** The refusal of the first such object. */
  readonly message: string
}

/** The result of `orch audit`. */
export interface AuditReport {
  /** Stored objects. */
  readonly stored: number
  /** Stored objects that were tried. */
  readonly tried: number
  readonly findings: readonly ObjectFinding[]
  readonly access: readonly AccessFinding[]
  readonly unchecked: readonly Unchecked[]
  readonly notes: readonly string[]
}

/** True if a request would be refused, or an account would lose access. */
export function refusesAny({ findings, access }: AuditReport): boolean {
  return findings.some(({ verdict }) => verdict === 'refused') || access.some(({ change }) => change === 'loses')
}

/** The report as tables. */
export function printReport({ stored, tried, findings, access, unchecked, notes }: AuditReport): string {
  const objectRows = findings.map(({ verdict, operations, object, message }) => [verdict, operations.join(',') || '*', object, message])
  const accessRows = access.map(({ account, change, verbs, resource, namespaces, objects }) => [
    account,
    change,
    verbs.join(','),
    resource,
    namespaces.length > 3 ? `${namespaces.slice(0, 3).join(',')} and ${namespaces.length - 3} more` : namespaces.join(',') || '*',
    String(objects),
  ])
  const count = (verdict: ObjectFinding['verdict']) =>
    new Set(findings.filter((one) => one.verdict === verdict).map(({ object }) => object)).size
  const summary = [
    `${stored} stored, ${tried} tried`,
    `${count('refused')} refused, ${count('warned')} warned of, ${count('audited')} audited`,
    ...(access.length === 0 ? [] : [`${access.filter(({ change }) => change === 'loses').length} rights lost`]),
  ]
  return [
    ...table(['VERDICT', 'OPERATIONS', 'OBJECT', 'MESSAGE'], objectRows),
    ...table(['ACCOUNT', 'CHANGE', 'VERBS', 'RESOURCE', 'NAMESPACES', 'OBJECTS'], accessRows),
    ...unchecked.map(({ count, kind, operation, message }) => `not checked: ${operation} of ${count} ${kind}, refused today: ${message}`),
    ...notes.map((note) => `note: ${note}`),
    `objects: ${summary.join('; ')}`,
    '',
  ].join('\n')
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return []
  const all = [head, ...rows]
  const widths = head.map((_, column) => all.reduce((most, row) => Math.max(most, row[column]?.length ?? 0), 0))
  return all.map((row) => row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd((widths[column] ?? 0) + 3))).join(''))
}

/** The objects of a server that a load takes, each in the preferred version of its group. */
export async function objectsOfServer(client: Client, server: string): Promise<DumpedObject[]> {
  const { resources } = await client.discoverAll()
  const found: DumpedObject[] = []
  for (const resource of resources) {
    if (!resource.verbs.includes('list') || skippedKinds.includes(resource.kind)) continue
    const { group, version, kind } = resource
    const apiVersion = group === '' ? version : `${group}/${version}`
    for (const item of await itemsOf(client, resource)) found.push(parsedObject({ ...item, apiVersion, kind }, server))
  }
  return found
}

/** All objects of a resource; empty for a resource that was removed after discovery. */
export async function itemsOf(client: Client, resource: Pick<VersionedResource, 'group' | 'version' | 'plural' | 'namespaced'>) {
  return (await unlessRefused([404, 405], () => client.resource(resource).listAll()))?.items ?? []
}
