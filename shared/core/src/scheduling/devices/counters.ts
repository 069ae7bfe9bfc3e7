import { addQuantities, compareQuantities, type Quantity, subtractQuantities, zeroQuantity } from '../../meta/quantity.ts'
import { readAmount } from './capacity.ts'
import type { Device } from './objects.ts'
import type { DevicePool } from './pools.ts'

/** The remaining amounts of the counters that a pool's devices share. */
export class Counters {
  readonly #left = new Map<string, Quantity>()

  /** Devices in use have already consumed their amounts. */
  constructor({ slices, devices }: DevicePool, isInUse: (key: string) => boolean) {
    for (const { spec } of slices) {
      for (const { name: set, counters = {} } of spec.sharedCounters ?? []) {
        for (const [name, { value }] of Object.entries(counters)) this.#left.set(`${set}/${name}`, readAmount(value))
      }
    }
    for (const { device, key } of devices) if (isInUse(key)) this.#change(device, subtractQuantities)
  }

  /** Consumes a device's amounts. False, without a change, if too little remains. */
  take(device: Device): boolean {
    this.#change(device, subtractQuantities)
    if (partsOf(device).every(([counter]) => compareQuantities(this.#leftOf(counter), zeroQuantity) >= 0)) return true
    this.putBack(device)
    return false
  }

  putBack(device: Device): void {
    this.#change(device, addQuantities)
  }

  #change(device: Device, by: (left: Quantity, part: Quantity) => Quantity): void {
    for (const [counter, part] of partsOf(device)) this.#left.set(counter, by(this.#leftOf(counter), part))
  }

  #leftOf(counter: string): Quantity {
    return this.#left.get(counter) ?? zeroQuantity
  }
}

function partsOf({ consumesCounters = [] }: Device): (readonly [string, Quantity])[] {
  return consumesCounters.flatMap(({ counterSet, counters = {} }) =>
    Object.entries(counters).map(([name, { value }]) => [`${counterSet}/${name}`, readAmount(value)] as const),
  )
}
