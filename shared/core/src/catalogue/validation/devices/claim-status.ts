import { needed } from '../../../description/fields.ts'
import { text } from '../../../description/texts.ts'
import { ref } from '../../../description/values.ts'
import type { FieldError } from '../../../meta/status.ts'
import { goValue } from '../../../schema/go-value.ts'
import { declaredSince, validateDeclaredPoolName, validatePoolName } from '../../../validation/device-texts.ts'
import { duplicateValue, forbiddenValue, invalidValue, tooManyValues } from '../../../validation/field-errors.ts'
import { isSame, itemsOf, optionalPart, type Part, partOf, repeatedPlaces, textOf } from '../../../validation/part.ts'
import { as, type RuleContext, type TypeRules } from '../../../validation/rule-book.ts'
import { isGiven } from '../checks.ts'
import { validateBinding, validateSkips } from './binding.ts'
import { validateOpaque } from './configuration.ts'
import { declared, requestRefs, validateRequestRef } from './device-claim.ts'

const conditionsMax = 8

const isFirst = (_status: Part, { live }: RuleContext): boolean => !isGiven(partOf(live, 'status'), 'allocation')

/** The devices allocated to a claim. An allocation is checked once, since it does not change. */
export const claimStatusRules: Readonly<Record<string, TypeRules>> = {
  'resource/v1.ResourceClaimStatus': [
    { since: declaredSince, step: keepAllocation },
    'reservedFor',
    { since: declaredSince, step: refuseRepeatedDevices },
    'devices',
    { until: declaredSince - 1, step: refuseRepeatedDevices },
    validateReservation,
    { when: isFirst, steps: ['allocation'] },
    { until: declaredSince - 1, step: keepAllocation },
  ],
  'resource/v1.AllocationResult': ['devices', 'nodeSelector'],
  'resource/v1.DeviceAllocationConfiguration': ['source', requestRefs('requests'), 'requests', 'opaque'],
  'resource/v1.DeviceRequestAllocationResult': [
    validateRequest,
    'driver',
    validateResultPool,
    'device',
    validateBinding,
    ...['tolerations', 'shareID'],
    validateSkips,
  ],
  'resource/v1.AllocatedDeviceStatus': [
    'driver',
    validateDevicePool,
    ...['device', 'shareID'],
    validateAllocated,
    limitConditions,
    'conditions',
    validateData,
    'networkData',
  ],
}

function validateRequest(errors: FieldError[], result: Part, at: string, context: RuleContext): void {
  validateRequestRef(errors, textOf(result, 'request'), `${at}.request`, context)
}

function validateResultPool(errors: FieldError[], result: Part, at: string, context: RuleContext): void {
  const validate = context.level < declaredSince ? validatePoolName : validateDeclaredPoolName
  declared(errors, context).push(...validate(textOf(result, 'pool'), `${at}.pool`))
}

function validateDevicePool(errors: FieldError[], device: Part, at: string): void {
  errors.push(...validatePoolName(textOf(device, 'pool'), `${at}.pool`))
}

/** The key of a device, with the members that messages name. */
function keyOf(device: Part) {
  const text = (name: string) => textOf(device, name)
  return { Driver: text('driver'), Pool: text('pool'), Device: text('device'), ShareID: text('shareID') }
}

function refuseRepeatedDevices(errors: FieldError[], status: Part, at: string, context: RuleContext): void {
  const devices = itemsOf(status, 'devices')
  const keys = devices.map(keyOf)
  const isDeclared = context.level >= declaredSince
  for (const index of repeatedPlaces(keys)) {
    declared(errors, context).push(duplicateValue(`${at}.devices[${index}]`, isDeclared ? devices[index] : keys[index]))
  }
}

function validateAllocated(errors: FieldError[], device: Part, at: string, { object }: RuleContext): void {
  const key = keyOf(device)
  const results = itemsOf(partOf(partOf(partOf(object, 'status'), 'allocation'), 'devices'), 'results')
  if (!results.some((result) => isSame(keyOf(result), key))) errors.push(invalidValue(at, key, 'must be an allocated device in the claim'))
}

function limitConditions(errors: FieldError[], part: Part, at: string): void {
  const { length } = itemsOf(part, 'conditions')
  if (length > conditionsMax) errors.push(tooManyValues(`${at}.conditions`, length, conditionsMax))
}

function validateData(errors: FieldError[], device: Part, at: string): void {
  if (isGiven(device, 'data')) validateOpaque(errors, { value: device['data'], field: `${at}.data` })
}

function validateReservation(errors: FieldError[], status: Part, at: string, { object, live }: RuleContext): void {
  const users = itemsOf(status, 'reservedFor')
  const field = `${at}.reservedFor`
  if (users.length === 0) return
  if (!isGiven(status, 'allocation')) errors.push(forbiddenValue(field, 'may not be specified when `allocated` is not set'))
  else if (isGiven(partOf(object, 'metadata'), 'deletionTimestamp')) {
    const before = itemsOf(partOf(live, 'status'), 'reservedFor')
    const isAdded = users.some((user) => !before.some((one) => isSame(one, user)))
    if (isAdded)
      errors.push(forbiddenValue(field, 'new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set'))
  }
}

function keepAllocation(errors: FieldError[], status: Part, at: string, context: RuleContext): void {
  const [allocation, before] = [optionalPart(status, 'allocation'), optionalPart(partOf(context.live, 'status'), 'allocation')]
  if (allocation === undefined || before === undefined || isSame(allocation, before)) return
  const field = `${at}.allocation`
  if (context.level >= declaredSince) context.declared.push(invalidValue(field, undefined, 'field cannot be modified once set'))
  else errors.push(invalidValue(field, goValue(ref('resource/v1.AllocationResult'), allocation), 'field is immutable'))
}

/** The conditions of a DeviceTaintRule are bounded as well. */
export const taintRuleRules: Readonly<Record<string, TypeRules>> = {
  'resource/v1.DeviceTaintRuleStatus': ['conditions', limitConditions],
  'resource/v1.DeviceTaintSelector': [
    { when: (selector) => isGiven(selector, 'driver'), steps: [as('driver', needed(text('driverName', { bytesMax: 63 })))] },
    { when: (selector) => isGiven(selector, 'pool'), steps: [validateDevicePool] },
    'device',
  ],
  'resource/v1.DeviceTaint': ['key', 'value', { when: hasNewEffect, steps: ['effect'] }],
}

function hasNewEffect(taint: Part, { object, live }: RuleContext): boolean {
  if (live === undefined || object['kind'] !== 'DeviceTaintRule') return true
  return textOf(partOf(partOf(live, 'spec'), 'taint'), 'effect') !== textOf(taint, 'effect')
}
