import type { ComponentProps } from 'preact'

type FieldProps = ComponentProps<'input'> & {
  readonly label: string
  /** The placeholder of an empty field. */
  readonly example?: string
}

/** A text field of a form. */
export function Field({ label, example, ...input }: FieldProps) {
  return (
    <label>
      <span>{label}</span>
      <input placeholder={example} {...input} />
    </label>
  )
}

/** The non-empty text fields of a form. */
export function fieldsOf(event: SubmitEvent): Readonly<Record<string, string>> {
  event.preventDefault()
  const fields = [...new FormData(event.currentTarget as HTMLFormElement)].map(([name, value]) => [name, String(value).trim()])
  return Object.fromEntries(fields.filter(([, value]) => value !== ''))
}
