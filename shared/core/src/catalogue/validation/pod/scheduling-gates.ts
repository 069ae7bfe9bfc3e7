import { string } from '../../../description/texts.ts'
import { list, map, ref } from '../../../description/values.ts'
import type { FieldError } from '../../../meta/status.ts'
import { goValue } from '../../../schema/go-value.ts'
import { duplicateValue, forbiddenValue, invalidFor, invalidValue } from '../../../validation/field-errors.ts'
import { textChecks } from '../../../validation/formats.ts'
import { isSame, itemsOf, optionalPart, type Part, partOf, textOf } from '../../../validation/part.ts'

/** Validates the names of scheduling gates. Like kube-apiserver, reports the gate and not its name. */
export function validateSchedulingGates(errors: FieldError[], spec: Part, at: string): void {
  const seen = new Set<string>()
  for (const [index, gate] of itemsOf(spec, 'schedulingGates').entries()) {
    const [name, path] = [textOf(gate, 'name'), `${at}.schedulingGates[${index}]`]
    errors.push(...invalidFor(path, name, textChecks.qualifiedName(name)))
    if (seen.has(name)) errors.push(duplicateValue(path, name))
    seen.add(name)
  }
}

/** Gates may be removed but not added. Of gates with one name the last is reported. */
export function validateGateChange(errors: FieldError[], gates: readonly Part[], live: readonly Part[]): void {
  const before = new Set(live.map((gate) => textOf(gate, 'name')))
  const places = new Map(gates.map((gate, index) => [textOf(gate, 'name'), index]))
  for (const [name, index] of places) {
    if (before.has(name)) continue
    const detail = `only deletion is allowed, but found new scheduling gate '${name}'`
    errors.push(forbiddenValue(`spec.schedulingGates[${index}].name`, detail))
  }
}

/** The first level at which a gated Pod's node selection may be narrowed. */
const narrowedSince = 27

/** True if a Pod is gated, so that its node selection may be narrowed. */
export function isHeldBack(live: Part, level: number): boolean {
  return level >= narrowedSince && itemsOf(live, 'schedulingGates').length > 0
}

/** The node selector and the node affinity of a gated Pod may only become narrower. */
export function validateNarrowing(errors: FieldError[], spec: Part, live: Part): void {
  const [selector, before] = [partOf(spec, 'nodeSelector'), partOf(live, 'nodeSelector')]
  if (Object.keys(before).some((key) => selector[key] !== before[key])) {
    const detail = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)'
    errors.push(invalidValue('spec.nodeSelector', goValue(map(string()), selector), detail))
  }
  const [after, terms] = [requiredTerms(spec), requiredTerms(live)]
  const path = `spec.affinity.nodeAffinity.${required}.nodeSelectorTerms`
  if (terms.length > 0 && terms.length !== after.length) {
    const shown = goValue(list(ref(termType)), after.length === 0 ? undefined : after)
    errors.push(invalidValue(path, shown, 'no additions/deletions to non-empty NodeSelectorTerms list are allowed'))
    return
  }
  for (const [index, term] of terms.entries()) {
    if (isNarrower(after[index] ?? {}, term)) continue
    const detail = 'only additions are allowed (no mutations or deletions)'
    errors.push(invalidValue(`${path}[${index}]`, goValue(ref(termType), after[index]), detail))
  }
}

const required = 'requiredDuringSchedulingIgnoredDuringExecution'
const termType = 'core/v1.NodeSelectorTerm'

function requiredTerms(spec: Part): readonly Part[] {
  return itemsOf(partOf(partOf(partOf(spec, 'affinity'), 'nodeAffinity'), required), 'nodeSelectorTerms')
}

/** True if a term has only added requirements. A term without requirements selects nothing, so none may be added to it. */
function isNarrower(term: Part, before: Part): boolean {
  const lists = ['matchExpressions', 'matchFields']
  if (lists.every((name) => itemsOf(before, name).length === 0)) return lists.every((name) => itemsOf(term, name).length === 0)
  return lists.every((name) => isSame(itemsOf(term, name).slice(0, itemsOf(before, name).length), itemsOf(before, name)))
}

/** The spec with the live node selection. */
export function withNodesOf(spec: Part, live: Part): Part {
  const { nodeSelector: _selector, affinity: _affinity, ...rest } = spec
  const { nodeAffinity: _nodes, ...others } = partOf(spec, 'affinity')
  const nodeAffinity = optionalPart(partOf(live, 'affinity'), 'nodeAffinity')
  const affinity = { ...others, ...(nodeAffinity === undefined ? {} : { nodeAffinity }) }
  const isAbsent = optionalPart(live, 'affinity') === undefined && Object.keys(affinity).length === 0
  return { ...rest, nodeSelector: live['nodeSelector'], affinity: isAbsent ? undefined : affinity }
}
