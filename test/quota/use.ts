import { countingOf } from '@orch/core/catalogue'
import { namesOf } from '@orch/core/names'
import { type Amounts, addAmounts, exceededNames, maskAmounts, parseAmounts, printAmounts } from '@orch/core/quota'

/** The limits of a run's quota. */
export const hard = { pods: '9', 'requests.cpu': '1', 'services.nodeports': '5', 'count/services': '8' }
/** The number of parallel clients of a run. */
export const clientsAtOnce = 64
const none = parseAmounts(Object.fromEntries(Object.keys(hard).map((name) => [name, '0'])))

/** The seeds of a run; ORCH_QUOTA_SEEDS=20 runs all. */
export function seedsOf(usual: number): number[] {
  return Array.from({ length: Number(process.env['ORCH_QUOTA_SEEDS'] ?? usual) }, (_, index) => index + 1)
}

/** One change of a Pod or a Service. */
export interface UseChange {
  readonly revision: number
  /** The key begins with the resource: `pods/…`. */
  readonly key: string
  /** Absent: the object was deleted. */
  readonly after: unknown
}

/** Follows the quota's used amount through all changes and records each moment at which it exceeds the limit. */
export class Use {
  readonly overruns: string[] = []
  readonly #byKey = new Map<string, Amounts>()

  note({ revision, key, after }: UseChange): void {
    const [resource = ''] = key.split('/')
    if (after === undefined) this.#byKey.delete(key)
    else this.#byKey.set(key, countingOf(namesOf('orch'), { group: '', resource }).usage(after, 0))
    const exceeded = exceededNames(this.#sum(), parseAmounts(hard))
    if (exceeded.size > 0) this.overruns.push(`at ${revision}: ${[...exceeded].join()}`)
  }

  total(): Record<string, string> {
    return printAmounts(this.#sum())
  }

  #sum(): Amounts {
    return maskAmounts([...this.#byKey.values()].reduce(addAmounts, none), parseAmounts(hard))
  }
}

/** Converts amounts to comparable numbers. */
export function canonical(amounts: Record<string, string> | undefined): Record<string, string> {
  return printAmounts(parseAmounts(amounts))
}

/** A request of a client, as data. */
export interface Act {
  readonly method: string
  /** The path below the namespace. */
  readonly path: string
  readonly body?: object
}

export const aPod = (name: string, namespace?: string) => ({
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, ...(namespace === undefined ? {} : { namespace }) } },
  spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '100m' } } }] },
})

const aService = (name: string, type: string) => ({
  ...{ apiVersion: 'v1', kind: 'Service', metadata: { name } },
  spec: { type, ports: [{ port: 80 }] },
})

/** A client's next request: a create, an update or a delete, often of the same names. */
export function nextAct(random: () => number, id: number): Act {
  const name = `x${Math.floor(random() * 16)}`
  const type = random() < 0.5 ? 'NodePort' : 'ClusterIP'
  const choice = random()
  if (choice < 0.4) return { method: 'POST', path: 'pods', body: aPod(random() < 0.5 ? `p${id}` : name) }
  if (choice < 0.6) return { method: 'DELETE', path: `pods/${name}`, body: { gracePeriodSeconds: 0 } }
  if (choice < 0.75) return { method: 'POST', path: 'services', body: aService(name, type) }
  if (choice < 0.9) return { method: 'PUT', path: `services/${name}`, body: aService(name, type) }
  return { method: 'DELETE', path: `services/${name}` }
}
