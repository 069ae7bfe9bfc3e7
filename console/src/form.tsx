interface FieldProps {
  readonly name: string
  readonly label: string
  /** The placeholder of an empty field. */
  readonly example: string
}

/** A text field of a form. */
export function Field({ name, label, example }: FieldProps) {
  return (
    <label>
      <span>{label}</span>
      <input name={name} placeholder={example} />
    </label>
  )
}

/** The non-empty text fields of a form. */
export function fieldsOf(event: SubmitEvent): Readonly<Record<string, string>> {
  event.preventDefault()
  const fields = [...new FormData(event.currentTarget as HTMLFormElement)].map(([name, value]) => [name, String(value).trim()])
  return Object.fromEntries(fields.filter(([, value]) => value !== ''))
}
