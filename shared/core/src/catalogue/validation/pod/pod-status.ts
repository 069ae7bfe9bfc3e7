import { field } from '../../../description/fields.ts'
import { int64, list as listOf, ref } from '../../../description/values.ts'
import { checkLabel, checkQualifiedName, checkSubdomain, type FieldError } from '../../../meta/index.ts'
import type { Names } from '../../../names.ts'
import { goValue } from '../../../schema/go-value.ts'
import { duplicateValue, forbiddenValue, invalidFor, invalidValue, requiredValue } from '../../../validation/field-errors.ts'
import { ipFamilyOf, validateLegacyIp } from '../../../validation/ip-address.ts'
import { itemsOf, optionalPart, type Part, partOf, repeatedPlaces, textOf } from '../../../validation/part.ts'
import { as, type RuleContext, type TypeRules } from '../../../validation/rule-book.ts'
import { addressesChecked, allowChecked, numberOf } from '../checks.ts'
import { mayRestart } from './restart-policy.ts'

export const podStatusRules: Readonly<Record<string, TypeRules>> = {
  'core/v1.LinuxContainerUser': [
    { until: 36, step: 'uid' },
    { since: 37, step: as('uid', field(int64({ min: 0, max: 2 ** 32 - 1 }))) },
  ],
}

const lists = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses']

/** The rules of a Pod's status, which a node reports. */
export function validatePodStatus(pod: Part, live: Part | undefined, _names: Names, context: RuleContext): FieldError[] {
  const errors: FieldError[] = []
  const [status, before] = [partOf(pod, 'status'), partOf(live, 'status')]
  validateConditions(errors, itemsOf(status, 'conditions'))
  validateNomination(errors, status, live, context)
  if ((numberOf(status, 'observedGeneration') ?? 0) < 0) {
    errors.push(invalidValue('status.observedGeneration', status['observedGeneration'], negative))
  }
  const [qosClass, kept] = [textOf(status, 'qosClass'), textOf(before, 'qosClass')]
  const isOther = qosClass !== '' && kept !== '' && qosClass !== kept
  if (isOther && context.level >= 32) errors.push(invalidValue('status.qosClass', qosClass, 'field is immutable'))
  for (const list of lists) {
    refuseRestarts(errors, list, { after: itemsOf(status, list), before: itemsOf(before, list), spec: partOf(live, 'spec'), context })
  }
  validateClaims(errors, itemsOf(status, 'resourceClaimStatuses'), partOf(pod, 'spec'), context)
  validateExtendedClaim(errors, optionalPart(status, 'extendedResourceClaimStatus'), partOf(pod, 'spec'))
  validateAddresses(errors, 'podIPs', { status, before, context })
  validateAddresses(errors, 'hostIPs', { status, before, context })
  const spec = partOf(pod, 'spec')
  for (const list of lists) validateUsers(errors, list, { status, spec, context })
  validateHealth(errors, 'containerStatuses', { status, containers: itemsOf(spec, 'containers'), context })
  validateHealth(errors, 'initContainerStatuses', { status, containers: itemsOf(spec, 'initContainers'), context })
  for (const [index, container] of itemsOf(status, 'ephemeralContainerStatuses').entries()) {
    if (itemsOf(container, 'allocatedResourcesStatus').length === 0) continue
    const at = `status.ephemeralContainerStatuses[${index}].allocatedResourcesStatus`
    errors.push(forbiddenValue(at, 'must not be specified in container status'))
  }
  return errors
}

const negative = 'must be a non-negative integer'

function validateConditions(errors: FieldError[], conditions: readonly Part[]): void {
  for (const [index, condition] of conditions.entries()) {
    const at = `status.conditions[${index}]`
    const generation = numberOf(condition, 'observedGeneration') ?? 0
    if (generation < 0) errors.push(invalidValue(`${at}.observedGeneration`, generation, negative))
    const type = textOf(condition, 'type')
    errors.push(...invalidFor(`${at}.Type`, type, checkQualifiedName(type)))
  }
}

/** From level 1.35 on, a Pod with a node cannot be nominated for another node. */
function validateNomination(errors: FieldError[], status: Part, live: Part | undefined, context: RuleContext): void {
  const nominated = textOf(status, 'nominatedNodeName')
  if (nominated === '' || nominated === textOf(optionalPart(live, 'status'), 'nominatedNodeName')) return
  allowChecked(errors, { part: status, name: 'nominatedNodeName', at: 'status' }, checkSubdomain)
  if (!context.isGateOn('ClearingNominatedNodeNameAfterBinding') || textOf(optionalPart(live, 'spec'), 'nodeName') === '') return
  errors.push(forbiddenValue('status.nominatedNodeName', 'may not be set on pods that are already bound to a node'))
}

interface Reports {
  readonly after: readonly Part[]
  readonly before: readonly Part[]
  readonly spec: Part
  readonly context: RuleContext
}

/** A terminated container must stay terminated, unless its restart policy or the Pod's allows a restart. */
function refuseRestarts(errors: FieldError[], list: string, { after, before, spec, context }: Reports): void {
  const byName = new Map(after.toReversed().map((status) => [textOf(status, 'name'), status]))
  for (const [index, old] of before.entries()) {
    const ended = optionalPart(optionalPart(old, 'state'), 'terminated')
    const now = byName.get(textOf(old, 'name'))
    if (ended === undefined || now === undefined || optionalPart(optionalPart(now, 'state'), 'terminated') !== undefined) continue
    const ending = { list, name: textOf(old, 'name'), exitCode: Number(numberOf(ended, 'exitCode') ?? 0) }
    if (mayRestart(spec, ending, context)) continue
    errors.push(forbiddenValue(`status.${list}[${index}].state`, 'may not be transitioned to non-terminated state'))
  }
}

function validateClaims(errors: FieldError[], claims: readonly Part[], spec: Part, { level }: RuleContext): void {
  const known = new Set(itemsOf(spec, 'resourceClaims').map((claim) => textOf(claim, 'name')))
  const repeated = repeatedPlaces(claims.map((claim) => textOf(claim, 'name')))
  for (const [index, claim] of claims.entries()) {
    const [at, name] = [`status.resourceClaimStatuses[${index}]`, textOf(claim, 'name')]
    if (!known.has(name)) errors.push(invalidValue(`${at}.name`, name, 'must match the name of an entry in `spec.resourceClaims`'))
    if (repeated.has(index)) errors.push(duplicateValue(`${at}.name`, name))
    const of = claim['resourceClaimName']
    if (typeof of === 'string') errors.push(...invalidFor(`${at}.${level < 36 ? 'name' : 'resourceClaimName'}`, of, checkSubdomain(of)))
  }
}

/** Each mapping names a container and one of its requests. */
function validateExtendedClaim(errors: FieldError[], claim: Part | undefined, spec: Part): void {
  if (claim === undefined) return
  const at = 'status.extendedResourceClaimStatus'
  const containers = new Map([...itemsOf(spec, 'initContainers'), ...itemsOf(spec, 'containers')].map((one) => [textOf(one, 'name'), one]))
  const mappings = itemsOf(claim, 'requestMappings')
  if (mappings.length === 0) errors.push(requiredValue(`${at}.requestMappings`, 'at least one request mapping is required'))
  const members = ['containerName', 'resourceName', 'requestName'] as const
  const repeated = repeatedPlaces(mappings.map((mapping) => JSON.stringify(members.map((member) => textOf(mapping, member)))))
  for (const [index, mapping] of mappings.entries()) {
    const field = `${at}.requestMappings[${index}]`
    const [containerName, resource, request] = [
      textOf(mapping, 'containerName'),
      textOf(mapping, 'resourceName'),
      textOf(mapping, 'requestName'),
    ]
    const container = containers.get(containerName)
    if (container === undefined) errors.push(invalidValue(`${field}.containerName`, containerName, unknownContainer))
    else if (!Object.hasOwn(partOf(partOf(container, 'resources'), 'requests'), resource))
      errors.push(invalidValue(`${field}.resourceName`, resource, unknownResource))
    errors.push(...invalidFor(`${at}.requestName`, request, checkLabel(request)))
    if (repeated.has(index)) for (const member of members) errors.push(duplicateValue(`${field}.${member}`, textOf(mapping, member)))
  }
  const name = textOf(claim, 'resourceClaimName')
  if (name === '') errors.push(requiredValue(`${at}.resourceClaimName`))
  else errors.push(...invalidFor(`${at}.resourceClaimName`, name, checkSubdomain(name)))
}

const unknownContainer = 'must match the name of an entry in spec.initContainers.name or spec.containers.name'
const unknownResource =
  'must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests'

interface Change {
  readonly status: Part
  readonly before: Part
  readonly context: RuleContext
}

/** Validates the addresses of a Pod or its node: at most one per family; the first one must equal the single-address field. */
function validateAddresses(errors: FieldError[], list: 'podIPs' | 'hostIPs', { status, before, context }: Change): void {
  const addresses = itemsOf(status, list)
  const texts = addresses.map((address) => textOf(address, 'ip'))
  const [at, single] = [`status.${list}`, list === 'podIPs' ? 'podIP' : 'hostIP']
  if (list === 'hostIPs' && texts.length > 0 && textOf(status, single) !== texts[0]) {
    errors.push(invalidValue(`${at}[0].ip`, texts[0], `must be equal to \`${single}\``))
  }
  const repeated = repeatedPlaces(texts)
  const checked = addressesChecked(
    context,
    itemsOf(before, list).map((address) => textOf(address, 'ip')),
  )
  for (const [index, text] of texts.entries()) {
    errors.push(...validateLegacyIp(text, `${at}[${index}]`, checked))
    if (context.level < 33 && repeated.has(index)) errors.push(duplicateValue(`${at}[${index}]`, addresses[index]))
  }
  const families = new Set(texts.map(ipFamilyOf))
  if (texts.length > 2 || (texts.length === 2 && families.size < 2)) {
    errors.push(
      invalidValue(
        at,
        goValue(listOf(ref(list === 'podIPs' ? 'core/v1.PodIP' : 'core/v1.HostIP')), addresses),
        'may specify no more than one IP for each IP family',
      ),
    )
  }
}

interface Users {
  readonly status: Part
  readonly spec: Part
  readonly context: RuleContext
}

function validateUsers(errors: FieldError[], list: string, { status, spec, context }: Users): void {
  const isWindows = textOf(optionalPart(spec, 'os'), 'name') === 'windows'
  for (const [index, container] of itemsOf(status, list).entries()) {
    const linux = optionalPart(optionalPart(container, 'user'), 'linux')
    const at = `status.${list}[${index}].user.linux`
    if (linux === undefined) continue
    if (isWindows) errors.push(forbiddenValue(at, 'cannot be set for a windows pod'))
    else context.rules.of('core/v1.LinuxContainerUser')(errors, linux, at, context)
  }
}

const requestText = "must match one of the container's resource requests"
const claimText =
  "must match one of the container's resource claims as 'claim:<claimName>/<requestName>' when container.resources.claims[*].request is set or 'claim:<claimName>' when it is empty"

interface Health {
  readonly status: Part
  /** The containers of the spec. */
  readonly containers: readonly Part[]
  readonly context: RuleContext
}

/** A container may report the health of resources that it requests. Containers that are not in the spec may report any. */
function validateHealth(errors: FieldError[], list: string, { status, containers, context }: Health): void {
  for (const [index, report] of itemsOf(status, list).entries()) {
    const container = containers.find((one) => textOf(one, 'name') === textOf(report, 'name'))
    for (const [place, resource] of itemsOf(report, 'allocatedResourcesStatus').entries()) {
      const [at, name] = [`status.${list}[${index}].allocatedResourcesStatus[${place}]`, textOf(resource, 'name')]
      if (container !== undefined && !hasResource(container, name)) {
        errors.push(invalidValue(`${at}.name`, name, name.startsWith('claim:') ? claimText : requestText))
      }
      context.rules.of('core/v1.ResourceStatus')(errors, resource, at, context)
    }
  }
}

function hasResource(container: Part, name: string): boolean {
  const resources = optionalPart(container, 'resources')
  if (!name.startsWith('claim:')) return Object.hasOwn(optionalPart(resources, 'requests') ?? {}, name)
  return itemsOf(resources, 'claims').some((claim) => {
    const request = textOf(claim, 'request')
    return name === `claim:${textOf(claim, 'name')}${request === '' ? '' : `/${request}`}`
  })
}
