import { ref } from '../../description/define.ts'
import { knownReleases } from '../../gate-releases.ts'
import type { RuleRequest } from '../../kind/define-resource.ts'
import type { FieldError } from '../../meta/status.ts'
import { checkQualifiedName, checkSubdomain } from '../../meta/validate-names.ts'
import type { Names } from '../../names.ts'
import { goValue } from '../../schema/go-value.ts'
import { duplicateValue, invalidFor, invalidValue, requiredValue, tooLongValue } from '../../validation/field-errors.ts'
import { isSame, itemsOf, optionalPart, type Part, partOf, repeatedPlaces, textOf } from '../../validation/part.ts'

const nodeIdLengthMax = 256
const driverNameLengthMax = 63

/** The rules of a CSINode's spec. What a driver said of itself when it registered stays as it was. */
export function validateCsiNode(node: Part, live: Part | undefined, _names: Names, { level }: Pick<RuleRequest, 'level'>): FieldError[] {
  const drivers = itemsOf(partOf(node, 'spec'), 'drivers')
  const liveDrivers = itemsOf(partOf(live, 'spec'), 'drivers')
  const seen = new Set<string>()
  const errors = drivers.flatMap((driver, index) => {
    const at = `spec.drivers[${index}]`
    const name = textOf(driver, 'name')
    const ofDriver = [...validateDriverName(name, `${at}.name`, level), ...validateDriver(driver, at)]
    if (seen.has(name)) ofDriver.push(duplicateValue(`${at}.name`, name))
    seen.add(name)
    return [...ofDriver, ...validateTopology(itemsOf<string>(driver, 'topologyKeys'), at)]
  })
  return [...errors, ...validateKept(drivers, liveDrivers)]
}

function validateKept(drivers: readonly Part[], before: readonly Part[]): FieldError[] {
  const liveByName = new Map(before.map((driver) => [textOf(driver, 'name'), driver]))
  return drivers.flatMap((driver, index) => {
    const live = liveByName.get(textOf(driver, 'name'))
    if (live === undefined || isSame(driver, live)) return []
    return [invalidValue(`spec.drivers[${index}]`, goValue(ref('storage/v1.CSINodeDriver'), driver), 'field is immutable')]
  })
}

/** From this level on nothing else is said of a name that is absent. */
const absentNamesAloneSince = 37

/** Names of volume drivers, as CSINode and VolumeAttachment hold them. */
export function validateDriverName(name: string, path: string, level: number = knownReleases.own): FieldError[] {
  const errors = name === '' ? [requiredValue(path)] : []
  if (name === '' && level >= absentNamesAloneSince) return errors
  if (name.length > driverNameLengthMax) errors.push(tooLongValue(path, driverNameLengthMax))
  return [...errors, ...invalidFor(path, name, checkSubdomain(name.toLowerCase()))]
}

function validateDriver(driver: Part, at: string): FieldError[] {
  const errors: FieldError[] = []
  const nodeId = textOf(driver, 'nodeID')
  if (nodeId === '') errors.push(requiredValue(`${at}.nodeID`))
  if (nodeId.length > nodeIdLengthMax) errors.push(invalidValue(`${at}.nodeID`, nodeId, `must be ${nodeIdLengthMax} characters or less`))
  const count = optionalPart(driver, 'allocatable')?.['count']
  if (typeof count === 'number' && count < 0)
    errors.push(invalidValue(`${at}.allocatable.count`, count, 'must be greater than or equal to 0'))
  return errors
}

/** kube-apiserver blames the driver, not the list. */
function validateTopology(keys: readonly string[], at: string): FieldError[] {
  const repeated = repeatedPlaces(keys)
  return keys.flatMap((key, index) => {
    const errors = key === '' ? [requiredValue(at)] : []
    if (repeated.has(index)) errors.push(duplicateValue(at, key))
    return [...errors, ...invalidFor(at, key, checkQualifiedName(key))]
  })
}
