import { type Cidr, cidr, isUsable } from '@orch/platform'
import type { ReservedKeys } from './reserved-keys.ts'

/** The verdict of the ranges on a requested address. */
export type AddressPlace = { readonly kind: 'usable' } | { readonly kind: 'outside'; readonly problem: string }

export interface ServiceRangesOptions {
  readonly keys: Pick<ReservedKeys, 'addressPrefix' | 'objectsBelow'>
  /** The server's own range. */
  readonly range: Cidr
  /** Storage prefix of ServiceCIDRs; undefined if the own range is the only one. */
  readonly prefix: string | undefined
}

/** The address ranges of Services: the server's own, and those of ServiceCIDRs, which are read when the own range is not sufficient. */
export class ServiceRanges {
  readonly range: Cidr
  readonly addressPrefix: string
  readonly #options: ServiceRangesOptions

  constructor(options: ServiceRangesOptions) {
    this.#options = options
    this.range = options.range
    this.addressPrefix = options.keys.addressPrefix
  }

  /** The place of a requested address. */
  async placeOf(address: string): Promise<AddressPlace> {
    if (isUsable(this.range, address)) return { kind: 'usable' }
    const further = await this.further()
    if (further.some((block) => isUsable(block, address))) return { kind: 'usable' }
    if (this.#options.prefix !== undefined) return { kind: 'outside', problem: 'the provided network does not match the current range' }
    const { text } = this.range
    return { kind: 'outside', problem: `the provided IP (${address}) is not in the valid range. The range of valid IPs is ${text}` }
  }

  /** The active ranges of ServiceCIDRs, of the own family. */
  async further(): Promise<readonly Cidr[]> {
    const { keys, prefix } = this.#options
    if (prefix === undefined) return []
    const objects = await keys.objectsBelow(prefix, 'networking/v1.ServiceCIDR')
    const used = objects.filter(({ metadata, status }) => metadata.deletionTimestamp == null && isReady(status?.conditions ?? []))
    const blocks = used.flatMap(({ spec }) => (spec?.cidrs ?? []).map(cidr.parse)).filter((block) => block !== undefined)
    return blocks.filter(({ text, family }) => family === this.range.family && text !== this.range.text)
  }
}

/** A range without a ready condition may be used, since without a controller no range has one. */
function isReady(conditions: readonly { readonly type: string; readonly status: string }[]): boolean {
  return conditions.every(({ type, status }) => type !== 'Ready' || status === 'True')
}
