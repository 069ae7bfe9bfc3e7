import { ref } from '../../description/values.ts'
import { mandatoryPriorityLevels } from '../../flow-control/mandatory.ts'
import { type FieldError, type LevelText, textSince } from '../../meta/index.ts'
import type { Names } from '../../names.ts'
import { goValue } from '../../schema/go-value.ts'
import { invalidValue, requiredValue } from '../../validation/field-errors.ts'
import { isSame, type Part, partOf, textOf } from '../../validation/part.ts'
import type { PartRule, RuleContext, TypeRules } from '../../validation/rule-book.ts'
import { isGiven, numberOf } from './checks.ts'
import { mandatoryErrors } from './flow-control.ts'

const queuesMax = 10_000_000
const entropyBitsMax = 60

const exemptAlone = (name: string): LevelText => {
  const text = (of: string) => `must be 'Exempt' if and only if ${of} is 'exempt'`
  return textSince(34, { before: `type ${text('name')}`, after: text(name) })
}

/** The first level with different errors for an absent and an unknown word. */
const absentWordsSince = 37
const typeSteps: TypeRules = ['type', { since: absentWordsSince, step: requireType }]

/** The rules for the parts of a PriorityLevelConfiguration in a version. `name` is the object's name in a message. */
const partRules = (version: string, name: string): Readonly<Record<string, TypeRules>> => ({
  [`flowcontrol/${version}.PriorityLevelConfigurationSpec`]: [
    validateType(exemptAlone(name)),
    ...typeSteps,
    { when: isOfNoType, steps: [refuse('limited', '')] },
    {
      when: isOfType('Exempt'),
      steps: [refuse('limited', 'must be nil if the type is not Limited'), 'exempt'],
    },
    { when: isOfType('Limited'), steps: [refuse('exempt', 'must be nil if the type is Limited'), 'limited'] },
  ],
  [`flowcontrol/${version}.LimitedPriorityLevelConfiguration`]: ['*', 'limitResponse'],
  [`flowcontrol/${version}.LimitResponse`]: [
    ...typeSteps,
    { when: hasNoQueues, steps: [refuse('queuing', 'must be nil if limited.limitResponse.type is not Limited')] },
    { when: isOfType('Queue'), steps: ['queuing'] },
  ],
  [`flowcontrol/${version}.QueuingConfiguration`]: ['queueLengthLimit', validateQueues],
})

/** A PriorityLevelConfiguration. Since v1beta3 its shares are nominal. */
export const priorityLevelRules: Readonly<Record<string, TypeRules>> = {
  'flowcontrol/v1beta2.PriorityLevelConfiguration': ['spec', keepMandatory],
  ...partRules('v1beta2', 'name'),
  'flowcontrol/v1.PriorityLevelConfiguration': ['spec', keepNominalMandatory],
  ...partRules('v1', '`name`'),
}

/** The rules of a PriorityLevelConfiguration in v1beta3 and v1. */
export function validateNominalPriorityLevel(_level: Part, _live: Part | undefined, _names: Names, context: RuleContext): FieldError[] {
  return context.rules.checkObject('flowcontrol/v1.PriorityLevelConfiguration', 'main', context)
}

function validateType(detail: LevelText): PartRule {
  return (errors, { type }, at, { object }) => {
    const isExempt = textOf(partOf(object, 'metadata'), 'name') === 'exempt'
    if (isExempt !== (type === 'Exempt')) errors.push(invalidValue(`${at}.type`, type ?? '', detail))
  }
}

/** The rule is declarative, so its error comes last. */
function requireType(_errors: FieldError[], part: Part, at: string, { declared }: RuleContext): void {
  if (textOf(part, 'type') === '') declared.push(requiredValue(`${at}.type`))
}

function hasNoQueues({ type }: Part, { level }: RuleContext): boolean {
  return type === 'Reject' || (level >= absentWordsSince && type !== 'Queue')
}

/** With an unknown type, a declarative rule refuses all fields of other types. */
function isOfNoType({ type }: Part, { level }: RuleContext): boolean {
  return level >= absentWordsSince && type !== 'Exempt' && type !== 'Limited'
}

function isOfType(wanted: string): (part: Part) => boolean {
  return ({ type }) => type === wanted
}

/** Refuses a field. Since 1.36, when the rule became declarative, the message has no detail. */
function refuse(name: string, detail: string): PartRule {
  const message = textSince(36, { before: `Forbidden: ${detail}`, after: 'Forbidden' })
  return (errors, part, at) => {
    if (isGiven(part, name)) errors.push({ reason: 'FieldValueForbidden', field: `${at}.${name}`, message })
  }
}

function validateQueues(errors: FieldError[], queuing: Part, at: string): void {
  const refuseValue = (name: string, value: unknown, detail: string): void => void errors.push(invalidValue(`${at}.${name}`, value, detail))
  const [queues, hand] = [Number(numberOf(queuing, 'queues') ?? 0), Number(numberOf(queuing, 'handSize') ?? 0)]
  if (queues <= 0) refuseValue('queues', queues, 'must be positive')
  else if (queues > queuesMax) refuseValue('queues', queues, `must not be greater than ${queuesMax}`)
  if (hand <= 0) refuseValue('handSize', hand, 'must be positive')
  else if (hand > queues) refuseValue('handSize', hand, `should not be greater than queues (${queues})`)
  else if (Math.ceil(Math.log2(queues) * hand) > entropyBitsMax) {
    const detail = `required entropy bits of deckSize ${queues} and handSize ${hand} should not be greater than ${entropyBitsMax}`
    refuseValue('handSize', hand, detail)
  }
}

function keepMandatory(errors: FieldError[], level: Part): void {
  errors.push(...mandatoryErrors(level, mandatoryPriorityLevels))
}

/** Levels that the server does not let change, except for the shares of the level exempt. */
function keepNominalMandatory(errors: FieldError[], level: Part): void {
  const spec = partOf(level, 'spec')
  const refuseSpec = (detail: string): void =>
    void errors.push(invalidValue('spec', goValue(ref('flowcontrol/v1.PriorityLevelConfigurationSpec'), spec), detail))
  const name = textOf(partOf(level, 'metadata'), 'name')
  if (name === 'exempt') {
    const { exempt: _exempt, ...others } = spec
    if (isSame(others, mandatoryPriorityLevels.exempt)) return
    refuseSpec("spec of 'exempt' except the 'spec.exempt' field must equal the fixed value")
  } else if (name === 'catch-all') {
    const { limited, ...rest } = mandatoryPriorityLevels['catch-all']
    const { assuredConcurrencyShares: nominalConcurrencyShares, limitResponse } = limited
    const fixed = { ...rest, limited: { nominalConcurrencyShares, limitResponse, lendablePercent: 0 } }
    if (!isSame(spec, fixed)) refuseSpec("spec of 'catch-all' must equal the fixed value")
  }
}
