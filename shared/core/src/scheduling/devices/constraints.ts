import type { BuiltIn } from '../../schema/built-in.ts'
import type { PooledDevice } from './objects.ts'

export type Constraint = BuiltIn<'resource/v1.DeviceConstraint'>

/** A request by its names: a constraint may name the request, or one of its alternatives. */
export interface NamedRequest {
  readonly base: string
  /** `request`, or `request/alternative`. */
  readonly name: string
}

/** Conditions about all devices of a claim together. Devices are added, and taken away again in the opposite order. */
export class Constraints {
  readonly #constraints: readonly Constraint[]
  /** Values of the devices that each constraint is about. */
  readonly #values: string[][]

  constructor(constraints: readonly Constraint[]) {
    this.#constraints = constraints
    this.#values = constraints.map(() => [])
  }

  /** False, without a change, where the device does not go with the others. */
  add(request: NamedRequest, device: PooledDevice): boolean {
    const added: (readonly [string[], string])[] = []
    for (const [at, constraint] of this.#constraints.entries()) {
      const values = this.#values[at]
      if (values === undefined || !isAbout(constraint, request)) continue
      const { matchAttribute, distinctAttribute } = constraint
      const value = attributeOf(device, matchAttribute ?? distinctAttribute ?? '')
      if (value === undefined) return false
      if (matchAttribute ? values.some((one) => one !== value) : values.includes(value)) return false
      added.push([values, value])
    }
    for (const [values, value] of added) values.push(value)
    return true
  }

  remove(request: NamedRequest): void {
    for (const [at, constraint] of this.#constraints.entries()) if (isAbout(constraint, request)) this.#values[at]?.pop()
  }
}

function isAbout({ requests = [] }: Constraint, { base, name }: NamedRequest): boolean {
  return requests.length === 0 || requests.includes(base) || requests.includes(name)
}

/** The value of an attribute with its type. A name without the driver's domain is tried, too. */
function attributeOf({ driver, device: { attributes = {} } }: PooledDevice, qualified: string): string | undefined {
  const plain = qualified.startsWith(`${driver}/`) ? qualified.slice(driver.length + 1) : undefined
  const key = Object.hasOwn(attributes, qualified) ? qualified : plain
  const value = key !== undefined && Object.hasOwn(attributes, key) ? attributes[key] : undefined
  if (value === undefined) return undefined
  const [type] = Object.entries(value).filter(([, one]) => one != null)
  return type === undefined || Array.isArray(type[1]) ? undefined : `${type[0]}:${type[1]}`
}
