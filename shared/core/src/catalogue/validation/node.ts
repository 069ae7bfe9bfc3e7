import { ref } from '../../description/values.ts'
import { goQuote } from '../../json/go-quote.ts'
import { checkLabelValue, type FieldError, joinTexts, textSince } from '../../meta/index.ts'
import type { Names } from '../../names.ts'
import { goValue } from '../../schema/go-value.ts'
import { duplicateValue, forbiddenValue, invalidFor, invalidTexts, invalidValue, requiredValue } from '../../validation/field-errors.ts'
import { cidrFamilyOf as familyOf, validateLegacyCidr } from '../../validation/ip-address.ts'
import { isSame, itemsOf, optionalPart, type Part, partOf, repeatedPlaces, textOf } from '../../validation/part.ts'
import type { RuleContext } from '../../validation/rule-book.ts'
import { validateLabelKey } from '../../validation/selector.ts'
import { addressesChecked, requireOneOf } from './checks.ts'
import { validateAmountOf } from './pod/resources.ts'

/** The rules of a Node's spec. */
export function validateNodeSpec(node: Part, live: Part | undefined, _names: Names, context: RuleContext): FieldError[] {
  const { level } = context
  const spec = partOf(node, 'spec')
  const source = optionalPart(spec, 'configSource')
  return [
    ...validateTaints(itemsOf(spec, 'taints')),
    ...validatePodRanges(spec, live, context),
    ...(source === undefined ? [] : validateConfigSource(source, 'spec.configSource', 'spec')),
    ...(live === undefined ? validateResources(partOf(node, 'status')) : validateChange(spec, partOf(live, 'spec'), level)),
  ]
}

/** The rules of a Node's status. */
export function validateNodeStatus(node: Part): FieldError[] {
  const status = partOf(node, 'status')
  const config = partOf(status, 'config')
  const addresses = itemsOf(status, 'addresses')
  return [
    ...validateResources(status),
    ...[...repeatedPlaces(addresses)].map((index) =>
      duplicateValue(`status.addresses[${index}]`, goValue(ref('core/v1.NodeAddress'), addresses[index])),
    ),
    ...['active', 'assigned', 'lastKnownGood'].flatMap((name) => {
      const source = optionalPart(config, name)
      return source === undefined ? [] : validateConfigSource(source, `status.config.${name}`, 'status')
    }),
  ]
}

/** The first level whose error of a range shows the range alone. */
const exampleSince = 30

/** The first level that validates each range separately, and strictly if the feature is on. */
const eachRangeSince = 33

function validatePodRanges(spec: Part, live: Part | undefined, context: RuleContext): FieldError[] {
  const ranges = rangesOf(spec)
  const isEach = context.level >= eachRangeSince
  const checked = addressesChecked(context, live === undefined ? [] : rangesOf(partOf(live, 'spec')))
  const errors = ranges.flatMap((range, index) => {
    if (context.level >= exampleSince) return validateLegacyCidr(range, `spec.podCIDRs[${index}]`, checked)
    return familyOf(range) === undefined ? [invalidTexts(`spec.podCIDRs[${index}]`, ranges, 'must be valid CIDR')] : []
  })
  const families = ranges.map(familyOf)
  const wrong = families.indexOf(undefined)
  if (ranges.length > 1 && wrong >= 0) errors.push(undecided(ranges[wrong] ?? '', wrong))
  const isDual = wrong < 0 && new Set(families).size === 2
  if (ranges.length > 2 || (ranges.length === 2 && !isDual)) {
    errors.push(invalidTexts('spec.podCIDRs', ranges, 'may specify no more than one CIDR for each IP family'))
  }
  if (isEach) return errors
  for (const index of repeatedPlaces(ranges)) errors.push(duplicateValue(`spec.podCIDRs[${index}]`, ranges[index]))
  return errors
}

/** kube-apiserver compares the families of all ranges, and reports the first invalid one as unparsable. */
function undecided(range: string, index: number): FieldError {
  const why = textSince(28, {
    before: `failed to parse cidr value:${goQuote(range)} with error:invalid CIDR address: ${range}`,
    after: `invalid CIDR[${index}]: <nil> (invalid CIDR address: ${range})`,
  })
  const message = joinTexts(['Internal error: invalid PodCIDRs. failed to check with dual stack with error', why], ':')
  return { reason: 'InternalError', field: 'spec.podCIDRs', message }
}

const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

function validateTaints(taints: readonly Part[]): FieldError[] {
  const seen = new Set<string>()
  return taints.flatMap((taint, index) => {
    // kube-apiserver uses this path, although taints are in the spec.
    const at = `metadata.taints[${index}]`
    const key = textOf(taint, 'key')
    const value = textOf(taint, 'value')
    const effect = textOf(taint, 'effect')
    const errors = [...validateLabelKey(key, `${at}.key`), ...invalidFor(`${at}.value`, value, checkLabelValue(value))]
    requireOneOf(errors, { part: taint, name: 'effect', at }, taintEffects)
    const identity = `${key}:${effect}`
    if (seen.has(identity)) {
      const { message, ...error } = duplicateValue(at, goValue(ref('core/v1.Taint'), taint))
      errors.push({ ...error, message: joinTexts([message, 'taints must be unique by key and effect pair'], ': ') })
    }
    seen.add(identity)
    return errors
  })
}

/** The uid and the version of the referenced object are known only to the node, so they belong to the status. */
function validateConfigSource(source: Part, path: string, part: 'spec' | 'status'): FieldError[] {
  const configMap = optionalPart(source, 'configMap')
  if (configMap === undefined)
    return [invalidValue(path, goValue(ref('core/v1.NodeConfigSource'), source), 'exactly one reference subfield must be non-nil')]
  const at = `${path}.configMap`
  const wanted = ['kubeletConfigKey', 'name', 'namespace', ...(part === 'status' ? ['resourceVersion', 'uid'] : [])]
  const unwanted = part === 'spec' ? ['resourceVersion', 'uid'] : []
  return [
    ...wanted
      .filter((name) => textOf(configMap, name) === '')
      .map((name) => requiredValue(`${at}.${name}`, `${name} must be set in ${part}`)),
    ...unwanted
      .filter((name) => textOf(configMap, name) !== '')
      .map((name) => forbiddenValue(`${at}.${name}`, `${name} must not be set in spec`)),
  ]
}

/** A Node stored by an old client may have only the single range. */
function rangesOf(spec: Part): readonly string[] {
  const ranges = itemsOf<string>(spec, 'podCIDRs')
  const first = textOf(spec, 'podCIDR')
  return ranges.length > 0 || first === '' ? ranges : [first]
}

function validateChange(spec: Part, live: Part, level: number): FieldError[] {
  const ranges = rangesOf(live)
  const ofRanges =
    ranges.length > 0 && !isSame(rangesOf(spec), ranges)
      ? [forbiddenValue('spec.podCIDRs', 'node updates may not change podCIDR except from "" to valid')]
      : []
  const ofProvider = validateProviderChange(textOf(spec, 'providerID'), textOf(live, 'providerID'), level)
  return level >= plainProviderSince ? [...ofRanges, ...ofProvider] : [...ofProvider, ...ofRanges]
}

/** The first level with different messages for a changed and a missing provider id. */
const plainProviderSince = 37

function validateProviderChange(provider: string, live: string, level: number): FieldError[] {
  if (live === '' || provider === live) return []
  if (level >= plainProviderSince)
    return [invalidValue('spec.providerID', null, `field cannot be ${provider === '' ? 'cleared' : 'modified'} once set`)]
  return [forbiddenValue('spec.providerID', 'node updates may not change providerID except from "" to valid')]
}

function validateResources(status: Part): FieldError[] {
  return ['capacity', 'allocatable'].flatMap((name) => validateAmounts(partOf(status, name), `status.${name}`))
}

function validateAmounts(amounts: Part, at: string): FieldError[] {
  return Object.entries(amounts).flatMap(([name, amount]) => validateAmountOf(name, String(amount), `${at}[${name}]`))
}
