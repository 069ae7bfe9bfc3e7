import { memo } from '@orch/cel/memo'
import { types } from '@orch/cel/types'
import { needed } from '../../description/fields.ts'
import { known, only } from '../../description/texts.ts'
import { list, ref } from '../../description/values.ts'
import type { ExpressionAge } from '../../expressions/libraries.ts'
import { checkLabel1035, checkQualifiedName, checkSubdomain, type FieldError, type LevelText, textSince } from '../../meta/index.ts'
import { mutationResults } from '../../policies/mutating.ts'
import { duplicateValue, invalidFor, invalidTexts, invalidValue, requiredValue, unsupportedValue } from '../../validation/field-errors.ts'
import { itemsOf, optionalPart, type Part, partOf, textOf } from '../../validation/part.ts'
import { as, type PartRule, type RuleContext, type TypeRules } from '../../validation/rule-book.ts'
import { bytesOf } from '../../validation/texts.ts'
import { isGiven, notGiven } from './checks.ts'
import { type ExpressionCheck, expressionErrors, type Languages, lazyLanguages, validateMatchConditions } from './match-conditions.ts'
import { refuseStaticName } from './static-names.ts'

const onlyOneReference = 'name and selector are mutually exclusive'
const notSpecified = 'expression is not specified'
/** The first level with shorter messages. */
const plainSince = 34
const ofMessage = (why: string): LevelText => textSince(plainSince, { before: `message ${why}`, after: why })
const notIdentifier = textSince(plainSince, { before: 'name is not a valid CEL identifier', after: 'must be a valid CEL identifier' })
const auditAnnotationsMax = 20
const annotationBytesMax = 5 * 1024
/** Words that CEL reserves, so that they cannot name variables. */
const reserved = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(' '),
)

/** The rule of a part of a policy that depends on the rest of the policy. */
const inPolicy =
  (rule: (errors: FieldError[], part: Part, at: string, policy: PolicyCheck) => void): PartRule =>
  (errors, part, at, context) =>
    rule(errors, part, at, policyOf(context))

/** The check of the policy to which a context belongs. */
const policyOf = memo((context: RuleContext): PolicyCheck => new PolicyCheck(context))

const pkg = 'admissionregistration/v1'
const commonSteps: TypeRules = [
  'failurePolicy',
  'paramKind',
  'matchConstraints',
  requireResourceRule,
  { passedOver: ['matchConditions'] },
  inPolicy((errors, _spec, _at, policy) => policy.validateConditions(errors)),
  'variables',
]

/** Admission policies and their bindings. */
export const policyRules: Readonly<Record<string, TypeRules>> = {
  [`${pkg}.ValidatingAdmissionPolicy`]: ['spec', refuseStaticName],
  [`${pkg}.MutatingAdmissionPolicy`]: ['spec', refuseStaticName],
  [`${pkg}.ValidatingAdmissionPolicyBinding`]: ['spec', refuseStaticName],
  [`${pkg}.MutatingAdmissionPolicyBinding`]: ['spec', refuseStaticName],
  [`${pkg}.ValidatingAdmissionPolicySpec`]: [...commonSteps, requireValidation, 'validations', boundAnnotations, 'auditAnnotations'],
  [`${pkg}.MutatingAdmissionPolicySpec`]: [
    ...commonSteps,
    refuseDeletion('matchConstraints'),
    requireMutation,
    'reinvocationPolicy',
    'mutations',
  ],
  [`${pkg}.ParamKind`]: ['apiVersion', validateApiVersion, 'kind', validateKind],
  [`${pkg}.MatchResources`]: ['matchPolicy', 'namespaceSelector', 'objectSelector', 'resourceRules', 'excludeResourceRules'],
  [`${pkg}.Variable`]: [inPolicy((errors, variable, at, policy) => policy.defineVariable(errors, variable, at))],
  [`${pkg}.Validation`]: [inPolicy(validateExpressions), 'reason'],
  [`${pkg}.AuditAnnotation`]: [inPolicy((errors, annotation, at, policy) => policy.validateAnnotation(errors, annotation, at))],
  [`${pkg}.Mutation`]: [{ decisive: 'patchType' }, inPolicy(validateChange), { passedOver: ['applyConfiguration', 'jsonPatch'] }],
  [`${pkg}.ValidatingAdmissionPolicyBindingSpec`]: ['policyName', 'paramRef', 'matchResources', 'validationActions', refuseDenyAndWarn],
  [`${pkg}.MutatingAdmissionPolicyBindingSpec`]: ['policyName', 'paramRef', 'matchResources', refuseDeletion('matchResources')],
  [`${pkg}.ParamRef`]: [
    'name',
    { when: hasBoth, steps: [notGiven('name', onlyOneReference)] },
    'selector',
    { when: hasBoth, steps: [notGiven('selector', onlyOneReference)] },
    requireReference,
    as('parameterNotFoundAction', needed(only(known('Deny', 'Allow')))),
  ],
  // The status is written by the server.
  [`${pkg}.ExpressionWarning`]: ['warning', 'fieldRef'],
}

function requireResourceRule(errors: FieldError[], spec: Part, at: string): void {
  const constraints = optionalPart(spec, 'matchConstraints')
  if (constraints === undefined || itemsOf(constraints, 'resourceRules').length > 0) return
  errors.push(requiredValue(`${at}.matchConstraints.resourceRules`))
}

function requireValidation(errors: FieldError[], spec: Part, at: string): void {
  if (itemsOf(spec, 'validations').length + itemsOf(spec, 'auditAnnotations').length > 0) return
  const detail = 'validations or auditAnnotations must contain at least one item'
  errors.push(requiredValue(`${at}.validations`, detail), requiredValue(`${at}.auditAnnotations`, detail))
}

function boundAnnotations(errors: FieldError[], spec: Part, at: string): void {
  const annotations = itemsOf(spec, 'auditAnnotations')
  if (annotations.length <= auditAnnotationsMax) return
  errors.push(invalidValue(`${at}.auditAnnotations`, annotations, `must not have more than ${auditAnnotationsMax} auditAnnotations`))
}

/** Operations whose objects can be changed. Like kube-apiserver, the error names no single rule. */
const mutatingOperations = ['*', 'CONNECT', 'CREATE', 'UPDATE']

function refuseDeletion(name: string): PartRule {
  return (errors, spec, at) => {
    for (const operation of itemsOf(partOf(spec, name), 'resourceRules').flatMap((rule) => itemsOf<string>(rule, 'operations'))) {
      if (mutatingOperations.includes(operation)) continue
      errors.push(unsupportedValue(`${at}.${name}.resourceRules.operations`, operation, mutatingOperations))
    }
  }
}

function requireMutation(errors: FieldError[], spec: Part, at: string): void {
  if (itemsOf(spec, 'mutations').length > 0) return
  errors.push(requiredValue(`${at}.mutations`, 'mutations must contain at least one item'))
}

function validateApiVersion(errors: FieldError[], kind: Part, at: string): void {
  const apiVersion = textOf(kind, 'apiVersion')
  if (apiVersion === '') return
  const field = `${at}.apiVersion`
  const [version = '', group, ...more] = apiVersion.split('/').reverse()
  if (more.length > 0) errors.push(invalidValue(field, apiVersion, `unexpected GroupVersion string: ${apiVersion}`))
  else {
    if (group !== undefined) errors.push(...invalidFor(field, group, checkSubdomain(group)))
    errors.push(...invalidFor(field, version, checkLabel1035(version)))
  }
}

function validateKind(errors: FieldError[], { kind: given }: Part, at: string): void {
  const problems = typeof given === 'string' && given !== '' ? checkLabel1035(given.toLowerCase()) : []
  if (problems.length === 0) return
  errors.push(invalidValue(`${at}.kind`, given, `may have mixed case, but should otherwise match: ${problems.join(',')}`))
}

function hasSelector(reference: Part): boolean {
  return isGiven(reference, 'selector')
}

function hasBoth(reference: Part): boolean {
  return textOf(reference, 'name') !== '' && hasSelector(reference)
}

function requireReference(errors: FieldError[], reference: Part, at: string): void {
  if (textOf(reference, 'name') === '' && !hasSelector(reference)) {
    errors.push(requiredValue(at, 'one of name or selector must be specified'))
  }
}

function refuseDenyAndWarn(errors: FieldError[], spec: Part, at: string): void {
  const given = itemsOf<string>(spec, 'validationActions')
  if (!given.includes('Deny') || !given.includes('Warn')) return
  const detail =
    'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)'
  errors.push(invalidTexts(`${at}.validationActions`, given, detail, list(ref(`${pkg}.ValidationAction`))))
}

/** The expressions anywhere in a stored spec. */
function storedExpressions(spec: Part | undefined): ReadonlySet<string> {
  if (spec === undefined) return new Set()
  const places = [
    ['variables', 'expression'],
    ['validations', 'expression'],
    ['validations', 'messageExpression'],
    ['auditAnnotations', 'valueExpression'],
    ['matchConditions', 'expression'],
  ] as const
  const changes = itemsOf(spec, 'mutations').flatMap((one) => [
    textOf(partOf(one, 'applyConfiguration'), 'expression'),
    textOf(partOf(one, 'jsonPatch'), 'expression'),
  ])
  return new Set([...places.flatMap(([list, name]) => itemsOf(spec, list).map((item) => textOf(item, name))), ...changes])
}

/** Checks the expressions of one policy. Stored expressions may use libraries that new expressions may not use yet. */
class PolicyCheck {
  readonly #spec: Part
  readonly #name: string
  readonly #level: number
  readonly #stored: ReadonlySet<string>
  readonly #hasParams: boolean
  readonly #isMutating: boolean
  /** Grows with each variable, so that later expressions know its type. */
  readonly #ofVariables: Languages
  readonly #annotationKeys = new Set<string>()
  readonly #made = new Map<boolean, Languages>()

  constructor({ object, live, level }: RuleContext) {
    this.#spec = partOf(object, 'spec')
    this.#name = textOf(partOf(object, 'metadata'), 'name')
    this.#level = level
    this.#stored = storedExpressions(live && partOf(live, 'spec'))
    this.#hasParams = optionalPart(this.#spec, 'paramKind') !== undefined
    this.#isMutating = 'mutations' in this.#spec
    this.#ofVariables = lazyLanguages(this.#hasParams, new Map(), { isMutating: this.#isMutating })
  }

  validateConditions(errors: FieldError[]): void {
    const surroundings = { hasParams: this.#hasParams, stored: this.#stored, level: this.#level }
    errors.push(...validateMatchConditions(this.#spec, 'spec.matchConditions', surroundings))
  }

  defineVariable(errors: FieldError[], variable: Part, at: string): void {
    const [name, expression] = [textOf(variable, 'name'), textOf(variable, 'expression')]
    const field = `${at}.name`
    if (name.trim() === '') errors.push(requiredValue(field, 'name is not specified'))
    else if (!/^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) || reserved.has(name)) errors.push(invalidValue(field, name, notIdentifier))
    const language = this.#ofVariables(this.#ageOf(expression))
    errors.push(...expressionErrors(`${at}.expression`, expression, { wanted: [], language, absent: notSpecified }))
    if (expression.trim() === '') return
    const compiled = language.compile(expression)
    for (const age of ['stored', this.#level] as const) this.#ofVariables(age).define(name, compiled)
  }

  validateAnnotation(errors: FieldError[], annotation: Part, at: string): void {
    const [key, expression] = [textOf(annotation, 'key'), textOf(annotation, 'valueExpression')]
    const whole = `${this.#name}/${key}`
    if (this.#name === '') errors.push(invalidValue(`${at}.key`, key, 'requires metadata.name be non-empty'))
    else errors.push(...invalidFor(`${at}.key`, whole, checkQualifiedName(whole)))
    if (this.#annotationKeys.has(key)) errors.push(duplicateValue(`${at}.key`, key))
    this.#annotationKeys.add(key)
    const wanted = [types.string, types.null]
    errors.push(...this.expressionErrors(`${at}.valueExpression`, expression, { wanted, absent: 'valueExpression is not specified' }))
    if (bytesOf(expression) > annotationBytesMax) errors.push(requiredValue(`${at}.valueExpression`, 'must not exceed 5kb in length'))
  }

  /** The errors of an expression that may use the variables. A message expression may not use the authorizer. */
  expressionErrors(
    field: string,
    text: string,
    { isMessage = false, ...check }: Omit<ExpressionCheck, 'language'> & { readonly isMessage?: boolean },
  ): FieldError[] {
    const language = this.#languagesOf(isMessage)(this.#ageOf(text))
    return expressionErrors(field, text, { ...check, language })
  }

  #languagesOf(isMessage: boolean): Languages {
    const made = this.#made.get(isMessage)
    if (made !== undefined) return made
    // In a validating policy without variables, `variables` is undefined.
    const hasVariables = this.#isMutating || itemsOf(this.#spec, 'variables').length > 0
    const variables = hasVariables ? this.#ofVariables('stored').variables : undefined
    const languages = lazyLanguages(this.#hasParams, variables, { hasAuthorizer: !isMessage, isMutating: this.#isMutating })
    this.#made.set(isMessage, languages)
    return languages
  }

  #ageOf(expression: string): ExpressionAge {
    return this.#stored.has(expression) ? 'stored' : this.#level
  }
}

function validateExpressions(errors: FieldError[], validation: Part, at: string, policy: PolicyCheck): void {
  const [expression, message] = [textOf(validation, 'expression'), textOf(validation, 'message')]
  const messageExpression = textOf(validation, 'messageExpression')
  errors.push(...policy.expressionErrors(`${at}.expression`, expression, { wanted: [types.bool], absent: notSpecified }))
  const field = `${at}.messageExpression`
  if (isBlank(messageExpression)) errors.push(invalidValue(field, messageExpression, 'must be non-empty if specified'))
  else if (messageExpression !== '') {
    errors.push(...policy.expressionErrors(field, messageExpression, { wanted: [types.string], isMessage: true }))
  }
  if (isBlank(message)) errors.push(invalidValue(`${at}.message`, message, ofMessage('must be non-empty if specified')))
  else if (hasLineBreak(message)) errors.push(invalidValue(`${at}.message`, message, ofMessage('must not contain line breaks')))
  else if (message === '' && hasLineBreak(expression) && messageExpression === '') {
    errors.push(requiredValue(`${at}.message`, 'message must be specified if expression contains line breaks'))
  }
}

function validateChange(errors: FieldError[], mutation: Part, at: string, policy: PolicyCheck): void {
  const isApplied = mutation['patchType'] === 'ApplyConfiguration'
  const [name, other] = isApplied ? ['applyConfiguration', 'jsonPatch'] : ['jsonPatch', 'applyConfiguration']
  const change = optionalPart(mutation, name)
  const type = textOf(mutation, 'patchType')
  if (change === undefined) errors.push(requiredValue(`${at}.${name}`, `must be specified when patchType is ${type}`))
  if (optionalPart(mutation, other) !== undefined) {
    errors.push(invalidValue(`${at}.${other}`, `{${other}}`, `must not be specified when patchType is ${type}`))
  }
  if (change === undefined) return
  const wanted = [mutationResults[isApplied ? 'apply' : 'patch']]
  errors.push(...policy.expressionErrors(`${at}.${name}.expression`, textOf(change, 'expression'), { wanted }))
}

function isBlank(text: string): boolean {
  return text !== '' && text.trim() === ''
}

function hasLineBreak(text: string): boolean {
  return /[\r\n]/.test(text.trim())
}
