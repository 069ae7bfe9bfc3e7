import { parseQuantity, roundUpQuantity } from '../meta/quantity.ts'
import { isExtended, isHugePages } from '../meta/resource-names.ts'
import type { Pod } from './objects.ts'

/** Amounts of resources as whole numbers. */
export interface Amounts {
  /** Millicores. */
  cpu: number
  /** Bytes. */
  memory: number
  /** Bytes of ephemeral storage. */
  ephemeral: number
  /** Huge pages, extended resources and others, by name. */
  scalars: Map<string, number> | undefined
}

type ResourceList = Readonly<Record<string, string>> | null | undefined
type Container = NonNullable<Pod['spec']['containers']>[number]
type ContainerStatus = NonNullable<Pod['status']['containerStatuses']>[number]

/** Assumed requests of containers without requests, for scoring (SCHED-35). */
const assumed = { cpu: 100, memory: 200 * 1024 * 1024 }

export function noAmounts(): Amounts {
  return { cpu: 0, memory: 0, ephemeral: 0, scalars: undefined }
}

/** True if all amounts are zero. */
export function isNothing({ cpu, memory, ephemeral, scalars }: Amounts): boolean {
  return cpu === 0 && memory === 0 && ephemeral === 0 && scalars === undefined
}

/** Adds amounts to a sum, multiplied by `times`. */
export function addAmounts(total: Amounts, { cpu, memory, ephemeral, scalars }: Amounts, times = 1): void {
  total.cpu += cpu * times
  total.memory += memory * times
  total.ephemeral += ephemeral * times
  if (scalars === undefined) return
  total.scalars ??= new Map()
  for (const [name, value] of scalars) total.scalars.set(name, (total.scalars.get(name) ?? 0) + value * times)
}

/** Parses a list of amounts. Resources that are neither native nor countable are ignored. */
export function readAmounts(list: ResourceList): Amounts {
  const amounts = noAmounts()
  for (const [name, text] of Object.entries(list ?? {})) {
    if (isNativeAmount(name) || isScalar(name)) setAmount(amounts, name, toWhole(text, name === 'cpu' ? -3 : 0))
  }
  return amounts
}

function isNativeAmount(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name === 'ephemeral-storage'
}

function isScalar(name: string): boolean {
  return name !== 'pods' && (isExtended(name) || isHugePages(name) || name.startsWith('attachable-volumes-') || name.includes('/'))
}

/** A text's amount in units of `10^exponent`, rounded up; 0 for an invalid quantity. */
export function toWhole(text: string | undefined, exponent = 0): number {
  const quantity = parseQuantity(text ?? '0')
  return quantity === undefined ? 0 : Number(roundUpQuantity(quantity, exponent))
}

/**
 * The request of a Pod: the maximum of main containers with sidecars, and of each init container with the sidecars before it. Pod-level amounts
 * replace that, and overhead is added (SCHED-35). During a resize the larger amount counts.
 */
export function amountsOf({ spec, status }: Pick<Pod, 'spec' | 'status'>) {
  const overhead = readAmounts(spec.overhead)
  const own = spec.resources?.requests
  const statuses = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])]
  const isInfeasible = (status?.conditions ?? []).some(({ type, reason }) => type === 'PodResizePending' && reason === 'Infeasible')
  const requested = combine(spec, (container) => resizedAmounts(container, statuses, isInfeasible))
  for (const [name, value] of entriesOf(readAmounts(own))) setAmount(requested, name, value)
  const scored = combine(spec, (container) => withAssumed(container.resources?.requests))
  addAmounts(scored, overhead)
  addAmounts(requested, overhead)
  return {
    requested,
    /** With 100m and 200 MiB in place of missing requests. */
    nonZero: { cpu: own?.['cpu'] ? requested.cpu : scored.cpu, memory: own?.['memory'] ? requested.memory : scored.memory },
    ofContainers: scored,
  }
}

function withAssumed(list: ResourceList): Amounts {
  const amounts = readAmounts(list)
  if (list?.['cpu'] === undefined) amounts.cpu = assumed.cpu
  if (list?.['memory'] === undefined) amounts.memory = assumed.memory
  return amounts
}

/** The request of a container, or the amount allocated by its node if that is more, or if the node will never allocate the request. */
function resizedAmounts({ name, resources }: Container, statuses: readonly ContainerStatus[], isInfeasible: boolean): Amounts {
  const status = statuses.find((one) => one.name === name)
  if (status === undefined) return readAmounts(resources?.requests)
  const amounts = isInfeasible ? noAmounts() : readAmounts(resources?.requests)
  raise(amounts, readAmounts(status.allocatedResources))
  raise(amounts, readAmounts(status.resources?.requests))
  return amounts
}

function combine(spec: Pod['spec'], read: (container: Container) => Amounts): Amounts {
  const total = noAmounts()
  for (const container of spec.containers ?? []) addAmounts(total, read(container))
  const sidecars = noAmounts()
  const initial = noAmounts()
  for (const container of spec.initContainers ?? []) {
    const amounts = read(container)
    if (container.restartPolicy === 'Always') {
      addAmounts(total, amounts)
      addAmounts(sidecars, amounts)
      raise(initial, sidecars)
    } else {
      addAmounts(amounts, sidecars)
      raise(initial, amounts)
    }
  }
  raise(total, initial)
  return total
}

function* entriesOf({ cpu, memory, ephemeral, scalars }: Amounts): Generator<readonly [string, number]> {
  if (cpu > 0) yield ['cpu', cpu]
  if (memory > 0) yield ['memory', memory]
  if (ephemeral > 0) yield ['ephemeral-storage', ephemeral]
  yield* scalars ?? []
}

function setAmount(amounts: Amounts, name: string, value: number): void {
  if (name === 'cpu') amounts.cpu = value
  else if (name === 'memory') amounts.memory = value
  else if (name === 'ephemeral-storage') amounts.ephemeral = value
  else {
    amounts.scalars ??= new Map()
    amounts.scalars.set(name, value)
  }
}

/** Raises amounts to at least those of another list. */
function raise(total: Amounts, { cpu, memory, ephemeral, scalars }: Amounts): void {
  total.cpu = Math.max(total.cpu, cpu)
  total.memory = Math.max(total.memory, memory)
  total.ephemeral = Math.max(total.ephemeral, ephemeral)
  for (const [name, value] of scalars ?? []) {
    total.scalars ??= new Map()
    total.scalars.set(name, Math.max(total.scalars.get(name) ?? 0, value))
  }
}
