fn main() {
    let request: Vec<u8> = b"GET /index.html".to_vec();
    let path: &[u8] = &request[4..];
    let word: [u8; 5] = *b"hello";
    let few: Vec<u8> = vec![1, 2, 255, 65, 66];
    println!("{} {} {} {}", request.len(), path.len(), word.len(), few.len()); // @end
}
