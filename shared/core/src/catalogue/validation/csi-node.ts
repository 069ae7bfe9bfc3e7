import { ref } from '../../description/values.ts'
import { checkQualifiedName, checkSubdomain, type FieldError } from '../../meta/index.ts'
import { goValue } from '../../schema/go-value.ts'
import { duplicateValue, invalidFor, invalidValue, requiredValue, tooLongValue } from '../../validation/field-errors.ts'
import { isSame, itemsOf, type Part, repeatedPlaces, textOf } from '../../validation/part.ts'
import { liveAt, type RuleContext, type TypeRules } from '../../validation/rule-book.ts'

const nodeIdLengthMax = 256
const driverNameLengthMax = 63

/** A CSINode. A driver's registered data is immutable. */
export const csiNodeRules: Readonly<Record<string, TypeRules>> = {
  'storage/v1.CSINodeSpec': ['drivers', validateKept],
  'storage/v1.CSINodeDriver': [
    (errors, driver, at, { level }) => void errors.push(...validateDriverName(textOf(driver, 'name'), `${at}.name`, level)),
    ...['nodeID', validateNodeId],
    ...['allocatable', validateTopology],
  ],
}

/** The first level that reports a changed driver as an error of the list. */
const listBlamedSince = 33

/** A driver without its number of volumes, which may change. */
function withoutCount({ allocatable: _allocatable, ...driver }: Part): Part {
  return driver
}

function validateKept(errors: FieldError[], spec: Part, at: string, context: RuleContext): void {
  const liveByName = new Map(itemsOf(liveAt(context, at), 'drivers').map((driver) => [textOf(driver, 'name'), driver]))
  for (const [index, driver] of itemsOf(spec, 'drivers').entries()) {
    const live = liveByName.get(textOf(driver, 'name'))
    if (live === undefined) continue
    const [after, before] = context.isGateOn('MutableCSINodeAllocatableCount') ? [driver, live].map(withoutCount) : [driver, live]
    if (isSame(after, before)) continue
    const field = context.level < listBlamedSince ? `${at}.drivers[${index}]` : `${at}.drivers`
    errors.push(invalidValue(field, goValue(ref('storage/v1.CSINodeDriver'), after), 'field is immutable'))
  }
}

/** The first level that reports only one error for an absent name. */
const absentNamesAloneSince = 35

/** Checks the name of a volume driver in a CSINode or VolumeAttachment. */
export function validateDriverName(name: string, path: string, level: number): FieldError[] {
  const errors = name === '' ? [requiredValue(path)] : []
  if (name === '' && level >= absentNamesAloneSince) return errors
  if (name.length > driverNameLengthMax) errors.push(tooLongValue(path, driverNameLengthMax))
  return [...errors, ...invalidFor(path, name, checkSubdomain(name.toLowerCase()))]
}

function validateNodeId(errors: FieldError[], driver: Part, at: string): void {
  const id = textOf(driver, 'nodeID')
  if (id.length > nodeIdLengthMax) errors.push(invalidValue(`${at}.nodeID`, id, `must be ${nodeIdLengthMax} characters or less`))
}

/** Like kube-apiserver, reports the driver and not its list. */
function validateTopology(errors: FieldError[], driver: Part, at: string): void {
  const keys = itemsOf<string>(driver, 'topologyKeys')
  const repeated = repeatedPlaces(keys)
  for (const [index, key] of keys.entries()) {
    if (key === '') errors.push(requiredValue(at))
    if (repeated.has(index)) errors.push(duplicateValue(at, key))
    errors.push(...invalidFor(at, key, checkQualifiedName(key)))
  }
}
