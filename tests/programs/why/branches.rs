fn choose(shape: Shape, scale: i32) -> i32 {
    let first = 1;
    if scale > 3 {
        return first;
    } else if scale == 3 {
        log(scale);
        scale * 2
    } else {
        match shape {
            Shape::Circle(r) if r > 9 => r,
            Shape::Rect { w, h } => {
                let sum = w + h;
                sum
            }
            _ => -1, // "none"
        }
    }
}
