def add_tag(name, tags=[]):
    tags.append(name)
    return tags


def label(kind):
    tags = add_tag(kind)
    text = ",".join(tags)
    return text


label("draft")
result = label("final")
print(result)
